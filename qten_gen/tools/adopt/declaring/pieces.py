"""What a constructor is taken apart into."""

from __future__ import annotations

import ast
from dataclasses import dataclass


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
    """What stands after `=`: a default or a specifier; None for an argument without a default."""
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

    text: str
    origin: ast.stmt


Piece = FieldPiece | CheckPiece | MovedPiece
