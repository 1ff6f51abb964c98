"""Adds lines, columns and source lines to diagnostics.

Computing positions takes twice as long as parsing. So it is done only for files with diagnostics, which are parsed a second time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ..model import NodePath
from ..model.diagnostics import Diagnostic, Span
from .source_lines import source_lines
from .syntax import decode, parse

_FIRST_LINE = Span(1, 1, 1, 2)

_OPENING = re.compile(r"[A-Za-z]*(\"\"\"|'''|\"|')")


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
    return tuple(located)


def _spans(diagnostics: Sequence[Diagnostic], data: bytes | None) -> Iterator[Span]:
    """The spans of the diagnostics of one file, with their first lines."""
    ranges = _Ranges.of(data or b"") if any(_needs_tree(item) for item in diagnostics) else None
    lines = [] if data is None else source_lines(data)
    for item in diagnostics:
        span = item.span if item.span.line else _FIRST_LINE if ranges is None else ranges.span(item)
        yield span._replace(text=lines[span.line - 1]) if span.line <= len(lines) else span


def _needs_tree(item: Diagnostic) -> bool:
    return not item.span.line and bool(item.place.steps)


class _Ranges(NamedTuple):
    """The syntax tree of a file with the range of every node."""

    tree: cst.Module
    ranges: Mapping[cst.CSTNode, CodeRange]

    @classmethod
    def of(cls, data: bytes) -> _Ranges | None:
        """Parse a file; None if that fails."""
        text = decode(data, "")
        tree = parse(text, "") if isinstance(text, str) else None
        if not isinstance(tree, cst.Module):
            return None
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        return cls(wrapper.module, wrapper.resolve(PositionProvider))

    def span(self, item: Diagnostic) -> Span:
        """The span of a diagnostic: a part of its string literal, or the whole node."""
        node = node_at(self.tree, item.place)
        found = self.ranges.get(node) if node is not None else None
        if node is None or found is None:
            return _FIRST_LINE
        line, column = found.start.line, found.start.column + 1
        offset = _content_offset(node)
        if item.within is not None and offset is not None:
            start, length = item.within
            first = column + offset + start
            return Span(line, first, line, first + max(1, length))
        return Span(line, column, found.end.line, found.end.column + 1)


def node_at(tree: cst.Module, place: NodePath) -> cst.CSTNode | None:
    """The node at a place; None if the tree has no such node."""
    node: object = tree
    for step in place.steps:
        try:
            node = node[step] if isinstance(step, int) and isinstance(node, Sequence) else getattr(node, str(step))
        except (AttributeError, IndexError):
            return None
    return node if isinstance(node, cst.CSTNode) else None


def _content_offset(node: cst.CSTNode) -> int | None:
    """The length of the prefix and quotes of a string literal; None if offsets in its value differ from those in its text."""
    if not isinstance(node, cst.SimpleString) or "\\" in node.value or "\n" in node.value or "\r" in node.value:
        return None
    opening = _OPENING.match(node.value)
    return opening.end() if opening else None
