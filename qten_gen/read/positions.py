"""Turns the path to a node of a syntax tree into the node, and into lines and columns."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..common.records import replace
from ..model import NodePath
from ..model.diagnostics import Diagnostic, Span
from .bindings import Function, string_value
from .syntax import decode, parse, source_lines
from .values import Extent, Written, extent, segment

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


_FIRST_LINE = Span(1, 1, 1, 2)

_OPENING = r"[A-Za-z]*(\"\"\"|'''|\"|')"


def locate(diagnostics: Iterable[Diagnostic], sources: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """The diagnostics in the same order, with spans and source lines. `sources` contains the bytes of the files by path.

    A diagnostic that already has a line keeps it. If the place or the file is not found, the span is the start of the first line.
    """
    located = list(diagnostics)
    by_path: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(located):
        by_path[item.path].append(index)
    for path, indexes in by_path.items():
        for index, span in zip(indexes, _spans([located[index] for index in indexes], sources.get(path)), strict=True):
            located[index] = replace(located[index], span=span)
    return _with_fixes(located, sources)


def _with_fixes(diagnostics: Sequence[Diagnostic], sources: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """The diagnostics, with the spans of their fixes."""
    places = [
        replace(item, place=item.fix.place, within=item.fix.within, span=Span(), fix=None)
        for item in diagnostics
        if item.fix is not None and not item.fix.span.line
    ]
    if not places:
        return tuple(diagnostics)
    spans = iter([item.span for item in locate(places, sources)])
    return tuple(
        item
        if item.fix is None or item.fix.span.line
        else replace(item, fix=replace(item.fix, span=next(spans)._replace(text=None)))
        for item in diagnostics
    )


def _spans(diagnostics: Sequence[Diagnostic], data: bytes | None) -> Iterator[Span]:
    """The spans of the diagnostics of one file, with their first lines."""
    # Parsing is what takes time here.
    tree = _tree(data) if data is not None and any(_needs_tree(item) for item in diagnostics) else None
    lines = [] if data is None else source_lines(data)
    for item in diagnostics:
        found = item.span if item.span.line else _FIRST_LINE if tree is None else _span(item, tree, lines)
        yield found._replace(text=lines[found.line - 1]) if found.line <= len(lines) else found


def _needs_tree(item: Diagnostic) -> bool:
    return not item.span.line and bool(item.place.steps)


def _tree(data: bytes) -> ast.Module | None:
    """The syntax tree of a file; None if it cannot be parsed."""
    text = decode(data, "")
    tree = parse(text, "") if isinstance(text, str) else None
    return tree if isinstance(tree, ast.Module) else None


def _span(item: Diagnostic, tree: ast.Module, lines: Sequence[str]) -> Span:
    """The span of a diagnostic: a part of its string literal, or the whole node."""
    found = extent_at(tree, item.place, lines)
    if found is None:
        return _FIRST_LINE
    if item.within is not None:
        offset = _content_offset(node_at(tree, item.place), segment(found, lines))
        if offset is not None:
            first = found.column + 1 + offset + item.within[0]
            return Span(found.line, first, found.line, first + max(1, item.within[1]))
    return Span(found.line, found.column + 1, found.end_line, found.end_column + 1)


def _content_offset(node: object, text: str) -> int | None:
    """The length of the prefix and quotes of a string literal; None if offsets in its value differ from those in its text."""
    opening, value = re.match(_OPENING, text), string_value(node)
    if opening is None or value is None or "\n" in text:
        return None
    return opening.end() if text == f"{opening.group()}{value}{opening.group(1)}" else None
