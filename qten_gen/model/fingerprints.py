"""Computes the fingerprints that show whether a generated class matches its declaration.

Emitters write the fingerprint into the generated class. When the class statement runs, the runtime compares it with that of the
declaration that `reflection` reads.
"""

from __future__ import annotations

from enum import Enum

from ..common.expression_text import expression_text
from ..common.format_number import FORMAT
from ..common.records import fields
from .declarations import Declaration
from .dimensions import Dim


def fingerprint(declaration: Declaration) -> str:
    """Twelve hex digits that change if another run-time class would be generated.

    The fingerprint covers the compared attributes (see `qten_gen.model`). The runtime checks the values in the generated code
    one by one when the class statement runs.
    """
    from hashlib import sha256

    return sha256(f"{FORMAT} {structure(declaration)}".encode()).hexdigest()[:12]


def structure(node: object) -> object:
    """The compared attributes of a model node as nested tuples, whose `repr` is the same in every process.

    Attributes with their default value are left out. So a new attribute does not change existing fingerprints.
    """
    match node:
        case tuple():
            return tuple(structure(item) for item in node)
        case frozenset():
            return tuple(sorted(str(item) for item in node))
        case Enum():
            return str(node.value)
        case str() | int() | None:
            return node
        case Dim():
            return expression_text(node.text)
    compared = [f for f in fields(node) if f.compare and getattr(node, f.name) != f.default]  # type: ignore[arg-type] # only dataclasses are left
    return (type(node).__name__, *((f.name, structure(getattr(node, f.name))) for f in compared))
