"""Finds what a `NodePath` leads to in a syntax tree, and where that is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..model import NodePath
from .signatures import Function
from .written import Extent, Written, extent

_DEFINITION = r"(?:async[\s\\]+)?(?:class|def)[\s\\]+"
"""The text before the name of a class or a function."""


def extent_at(tree: ast.Module, place: NodePath, lines: Sequence[str]) -> Extent | None:
    """Where the node or the name at a place is written, or else the innermost node on the way; None if there is none."""
    inner: Written | None = None
    for found in _way(tree, place):
        if isinstance(found, Written):
            inner = found
        elif isinstance(found, str) and inner is not None:
            return _extent_of_name(inner, found, lines)
    return None if inner is None else extent(inner, lines)


def node_at(tree: ast.Module, place: NodePath) -> object:
    """The target of a path: a node, a list of nodes or a name; the last thing on the way if the tree has nothing there."""
    return [tree, *_way(tree, place)][-1]


def _way(tree: ast.Module, place: NodePath) -> Iterator[object]:
    """The target of each step of a path, as far as the tree has it."""
    found: object = tree
    for step in place.steps:
        try:
            found = found[step] if isinstance(step, int) and isinstance(found, Sequence) else getattr(found, str(step))
        except (AttributeError, IndexError):
            return
        yield found


def _extent_of_name(parent: Written, name: str, lines: Sequence[str]) -> Extent:
    """Where a name is written that the syntax tree has as a string: of a class, a function, a parameter or a keyword."""
    line, column, _, _ = extent(parent, lines)
    if isinstance(parent, ast.ClassDef | Function):
        # Backslashes may put the name one or two lines below.
        definition = re.match(_DEFINITION, "\n".join([lines[line - 1][column:], *lines[line : line + 2]]))
        before = definition.group() if definition else ""
        above, _, beside = before.rpartition("\n")
        line, column = line + before.count("\n"), len(beside) + (0 if above else column)
    return Extent(line, column, line, column + len(name))
