"""What a level changes in a class statement. The levels decide by trees of `ast`; `rewriting/` makes the changes with libcst."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .declaring.pieces import Taken


@dataclass(frozen=True, slots=True)
class ReplaceBase:
    """A base gets another name. Flags in its brackets stay."""

    position: int
    text: str


@dataclass(frozen=True, slots=True)
class AddArguments:
    """The class statement gets further bases and keywords, such as `init=False`."""

    bases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveKeyword:
    """The class statement loses a keyword."""

    name: str


@dataclass(frozen=True, slots=True)
class RemoveDecorator:
    """The class loses a decorator."""

    position: int


@dataclass(frozen=True, slots=True)
class AllowNone:
    """The annotation of a field whose default is None says so."""

    field: str


@dataclass(frozen=True, slots=True)
class AddAnnotations:
    """The class body begins with these statements, behind its documentation."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddResult:
    """A method says what it returns."""

    method: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplaceConstructor:
    """Fields take the place of `__init__`."""

    init: ast.FunctionDef
    taken: Taken
    annotated: frozenset[str]
    """The fields that the class body annotates already. Their annotations go."""
    indentations: tuple[str, str]
    """Those of the constructor and of its body."""
    limit: int
    """How long lines may be."""


Change = (
    ReplaceBase
    | AddArguments
    | RemoveKeyword
    | RemoveDecorator
    | AllowNone
    | AddAnnotations
    | AddResult
    | ReplaceConstructor
)
