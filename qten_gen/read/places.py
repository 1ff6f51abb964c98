"""Finds what a `NodePath` leads to in a syntax tree, and where that is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..model import NodePath
from .signatures import Function
from .written import Extent, Written, extent

_DEFINITION = re.compile(r"(?:async[\s\\]+)?(?:class|def)[\s\\]+")
"""What stands before the name of a class or a function."""


def extent_at(tree: ast.Module, place: NodePath, lines: Sequence[str]) -> Extent | None:
    """Where the node or the name at a place is written; None if the tree has neither there."""
    found = node_at(tree, place)
    if isinstance(found, Written):
        return extent(found, lines)
    parent = node_at(tree, NodePath(place.steps[:-1]))
    return _extent_of_name(parent, found, lines) if isinstance(found, str) else None


def node_at(tree: ast.Module, place: NodePath) -> object:
    """What a path leads to: a node, a list of nodes or a name; None if the tree has nothing there."""
    found: object = tree
    for step in place.steps:
        try:
            found = found[step] if isinstance(step, int) and isinstance(found, Sequence) else getattr(found, str(step))
        except (AttributeError, IndexError):
            return None
    return found


def _extent_of_name(parent: object, name: str, lines: Sequence[str]) -> Extent | None:
    """Where a name is written that the syntax tree has as a string: of a class, a function, a parameter or a keyword."""
    if not isinstance(parent, ast.ClassDef | Function | ast.arg | ast.keyword):
        return None
    line, column, _, _ = extent(parent, lines)
    if isinstance(parent, ast.ClassDef | Function):
        definition = _DEFINITION.match("\n".join([lines[line - 1][column:], *lines[line : line + 2]]))
        before = definition.group() if definition else ""
        above, _, beside = before.rpartition("\n")
        line, column = line + before.count("\n"), len(beside) + (0 if above else column)
    return Extent(line, column, line, column + len(name))
