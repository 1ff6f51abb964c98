"""Finds the names of fields in a file: where they are declared, and where code reads or writes them on known objects."""

from __future__ import annotations

import re
from ast import Module
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from ...model import Declaration, Dim, FileDecl, Value, expression_of
from ...read.field_uses import FieldUse, field_uses
from ...read.positions import extent_at
from ...read.syntax import lines_of, tree_of
from ...read.values import Extent, Written, extent
from ...rules.replaced_fields import declared_at
from ...rules.rule_input import Facts

_NAMING = ("keys", "tie")
"""Arguments of specifiers that name fields in a string and are no expressions."""


class Mention(NamedTuple):
    """The name of a field or of a declared class in a file. The line and the column count from 0."""

    declaration: Declaration
    """The class, or the one that has the field."""
    name: str
    line: int
    column: int
    origin: str = ""
    """Of a field, the class that declares it: the furthest base, if several do."""

    def is_at(self, place: tuple[int, int]) -> bool:
        """True if a place is in the name, or right behind it."""
        return place[0] == self.line and self.column <= place[1] <= self.column + len(self.name)


def mentions(file: FileDecl, text: str) -> Iterator[Mention]:
    """The names in a file that is valid Python."""
    facts, module, tree, lines = Facts.of(file), file.source.module, tree_of(text), lines_of(text)
    for use in field_uses(tree):
        cls, *path = use.owner
        place = _place(use, lines)
        found = declared_at([file.meanings.get(f"{module}:{cls}", f"{module}.{cls}"), *path], file, facts)
        if place is not None and found is not None and any(field.name == use.name for field in found.fields):
            yield Mention(found, use.name, *place, _origin(found, use.name, facts))
    for declaration in file.declarations:
        where = extent_at(tree, declaration.place / "name", lines)
        if where is not None:
            yield Mention(declaration, declaration.name, where.line - 1, where.column)
        for where in _strings(declaration, file, tree, lines):
            for field in declaration.fields:
                for place in _words(field.name, where, lines):
                    yield Mention(declaration, field.name, *place, _origin(declaration, field.name, facts))


def _origin(declaration: Declaration, name: str, facts: Facts) -> str:
    lineage = (declaration, *facts.ancestors(declaration))
    return [each.qualified for each in lineage if any(field.name == name for field in each.fields)][-1]


def _strings(declaration: Declaration, file: FileDecl, tree: Module, lines: Sequence[str]) -> Iterator[Extent]:
    """The strings in the specifiers of a class that may name fields."""
    source = file.classes[declaration.qualified]
    for call in (*(field.specifier for field in source.fields), *source.checks):
        for argument in call.nested if call is not None else ():
            if isinstance(expression_of(argument), Dim) or argument.keyword in _NAMING:
                choice = argument.value.choice if isinstance(argument.value, Value) else None
                found = extent_at(tree, argument.place if choice is None else choice.place, lines)
                if found is not None:
                    yield found


def _place(use: FieldUse, lines: Sequence[str]) -> tuple[int, int] | None:
    """The line and the column where a use has the name of the field."""
    where = extent(cast(Written, use.node), lines)
    match use.how:
        case "attribute":
            return where.end_line - 1, where.end_column - len(use.name)
        case "pattern":
            before = re.search(rf"\b{use.name}\s*=\s*$", lines[where.line - 1][: where.column])
            return None if before is None else (where.line - 1, before.start())
        case "key":
            return next(_words(use.name, where, lines), None)
    return where.line - 1, where.column


def _words(name: str, where: Extent, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a string has a word."""
    end = where.end_column if where.line == where.end_line else None
    for found in re.finditer(rf"(?<![\w.]){name}(?!\w)", lines[where.line - 1][where.column : end]):
        yield where.line - 1, where.column + found.start()
