"""Computes the fingerprints that show whether a generated class matches its declaration.

Emitters write the fingerprint into the generated class. When the class statement runs, the runtime compares it with that of the
statement.
"""

from __future__ import annotations

from enum import Enum

from ..common.expression_text import expression_text
from ..common.fingerprint_rows import Row, fingerprint_of, row
from ..common.records import fields
from .declarations import Declaration
from .dimensions import Dim


def fingerprint(declaration: Declaration) -> str:
    """Twelve hex digits that change if another run-time class would be generated.

    The fingerprint covers the compared attributes (see `qten_gen.model`). The runtime checks the values in the generated code
    one by one when the class statement runs.
    """
    return fingerprint_of(structure(declaration))


def structure(node: object) -> Row:
    """The compared attributes of a record of the model."""
    compared = [f.name for f in fields(node) if f.compare]  # type: ignore[arg-type] # any of the records
    return row(type(node).__name__, **{name: _covered(getattr(node, name)) for name in compared})


def _covered(value: object) -> object:
    """What the row has for an attribute."""
    match value:
        case tuple():
            return tuple(map(_covered, value))
        case frozenset():
            # The order of a set is another one in each process.
            return tuple(sorted(map(str, value)))
        case Enum():
            return str(value.value)
        case str() | int() | None:
            return value
        case Dim():
            return expression_text(value.text)
    return structure(value)
