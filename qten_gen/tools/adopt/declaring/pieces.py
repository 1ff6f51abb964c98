"""The pieces into which a constructor is taken apart."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field


class Stays(Exception):
    """Why a class keeps its constructor: what stands in the way, and the line where it stands."""

    def __init__(self, why: str, node: ast.AST | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.line: int | None = getattr(node, "lineno", None)


@dataclass(frozen=True, slots=True)
class FieldPiece:
    """A field of the class body."""

    name: str
    annotation: str
    value: str | None
    """The text after `=`: a default or a specifier; None for an argument without a default."""
    origin: ast.AST
    """The statement or argument that it comes from, which has its comments."""


@dataclass(frozen=True, slots=True)
class CheckPiece:
    """A `check(...)` in the class body."""

    text: str
    """The whole call."""
    origin: ast.stmt


@dataclass(frozen=True, slots=True)
class MovedPiece:
    """A statement that `__post_init__` does."""

    names: Mapping[str, str]
    """The names that it reads there in place of names of the constructor: `self.dim` in place of `dim`."""
    origin: ast.stmt
    before: tuple[str, ...] = ()
    """The lines that stand above it, such as `dim = self.dim` for a name that it gives another value."""


Piece = FieldPiece | CheckPiece | MovedPiece


@dataclass(slots=True)
class Taken:
    """The pieces of a constructor."""

    pieces: list[Piece] = field(default_factory=list)
    owners: dict[ast.AST, str] = field(default_factory=dict)
    """Statements that are gone, such as `self.dim = dim`, each with the field that has its comments."""
    annotated: Mapping[str, str] = field(default_factory=dict)
    """The attributes that `__post_init__` annotates, with their annotations."""
    notes: list[str] = field(default_factory=list)
