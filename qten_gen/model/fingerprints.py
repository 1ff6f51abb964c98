"""Fingerprints: whether a generated class is the one that a declaration gives.

Emitters write the fingerprint into the generated class. When the class statement runs, the runtime compares it with that of the
declaration which `reflection` reads.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from hashlib import sha256

from ..common.format_number import FORMAT
from .declarations import Declaration


def fingerprint(declaration: Declaration) -> str:
    """Twelve hex digits that differ when another run-time class would be generated.

    It covers what is compared (see `qten_gen.model`); values that the generated text spells out are checked one by one
    when the class statement runs.
    """
    return sha256(f"{FORMAT} {structure(declaration)}".encode()).hexdigest()[:12]


def structure(node: object) -> object:
    """The compared part of a model node as nested tuples, whose `repr` is the same in every process.

    What has its default is left out, so that a new word of the language changes no declaration that does not use it.
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
    compared = [f for f in fields(node) if f.compare and getattr(node, f.name) != f.default]  # type: ignore[arg-type] # only dataclasses are left
    return (type(node).__name__, *((f.name, structure(getattr(node, f.name))) for f in compared))
