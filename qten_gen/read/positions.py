"""Places → lines, columns and source lines, for the few files that have something to report.

Positions cost twice the parse, so they are computed only here, from a second parse of the file.
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
    """The diagnostics, in the same order, with their spans and source lines; `sources` holds the bytes of the files by path.

    What has a line already keeps it. A place that cannot be found, or a file that is not at hand, gives the first line.
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
    """The spans of the diagnostics of one file, with the lines that they start in."""
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
        """The tree of a file, None where it cannot be parsed."""
        text = decode(data, "")
        tree = parse(text, "") if isinstance(text, str) else None
        if not isinstance(tree, cst.Module):
            return None
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        return cls(wrapper.module, wrapper.resolve(PositionProvider))

    def span(self, item: Diagnostic) -> Span:
        """Where the place of a diagnostic is: a part of its string literal, or the node."""
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
    """The node that a place leads to, None where the tree has no such node."""
    node: object = tree
    for step in place.steps:
        try:
            node = node[step] if isinstance(step, int) and isinstance(node, Sequence) else getattr(node, str(step))
        except (AttributeError, IndexError):
            return None
    return node if isinstance(node, cst.CSTNode) else None


def _content_offset(node: cst.CSTNode) -> int | None:
    """How many characters stand before the content of a string literal; None where offsets into it mean nothing."""
    if not isinstance(node, cst.SimpleString) or "\\" in node.value or "\n" in node.value or "\r" in node.value:
        return None
    opening = _OPENING.match(node.value)
    return opening.end() if opening else None
