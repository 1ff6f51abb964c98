"""Where a source and its generated module name the same classes and fields: the way from one to the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...common.naming import generated_class
from ...read.source_lines import lines_of

Place = tuple[int, int]
"""A line and a character, counted from 0."""


class Name(NamedTuple):
    """A class, or what is defined in its body."""

    cls: str
    member: str | None = None


def names(text: str) -> dict[Name, Place]:
    """The classes of a module and the names that their bodies bind, each where it is bound first.

    A generated class has the name of its declaration. A text that does not parse has none.

    >>> names("class _Batch_:\\n    x = 1")
    {Name(cls='Batch', member=None): (0, 6), Name(cls='Batch', member='x'): (1, 4)}
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    lines = lines_of(text)
    found: dict[Name, Place] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            cls = _declared(node.name)
            found.setdefault(Name(cls), _place(node, node.name, lines))
            for statement in node.body:
                for name, bound in _bound(statement):
                    found.setdefault(Name(cls, name), _place(bound, name, lines))
    return found


def _declared(name: str) -> str:
    """The name of the declaration that a class is generated for, or that of a class that is not generated."""
    return name[1:-1] if len(name) > 2 and generated_class(name[1:-1]) == name else name


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """The names that a statement in the body of a class binds, where each stands."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, statement
        case ast.Assign(targets=[ast.Name(id=name) as target]) | ast.AnnAssign(target=ast.Name(id=name) as target):
            yield name, target


def _place(node: ast.stmt | ast.expr, name: str, lines: list[str]) -> Place:
    """Where a name stands: at the start of a target, and behind `class` or `def`."""
    line = lines[node.lineno - 1]
    start = len(line.encode()[: node.col_offset].decode(errors="replace"))
    found = re.compile(rf"\b{re.escape(name)}\b").search(line, start)
    return node.lineno - 1, found.start() if found is not None else start


def name_at(found: Mapping[Name, Place], place: Place) -> Name | None:
    """The name that stands at a place."""
    for name, (line, start) in found.items():
        if line == place[0] and start <= place[1] <= start + len(name.member or name.cls):
            return name
    return None


def name_above(found: Mapping[Name, Place], place: Place) -> Name | None:
    """The last name that begins at a place or above it."""
    above = [(where, name) for name, where in found.items() if where[0] <= place[0]]
    return max(above, key=lambda item: item[0])[1] if above else None


def same(found: Mapping[Name, Place], name: Name) -> Place | None:
    """Where another text has a name, or the class that it belongs to."""
    return found.get(name) or found.get(Name(name.cls))
