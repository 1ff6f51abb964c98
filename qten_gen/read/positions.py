"""Places → lines and columns, for the few files that have something to report.

Positions cost twice the parse, so they are computed only here, from a second parse of the file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ..model import NodePath
from ..model.diagnostics import Diagnostic
from .syntax import decode, parse

_OPENING = re.compile(r"[A-Za-z]*(\"\"\"|'''|\"|')")


def locate(diagnostics: Iterable[Diagnostic], sources: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """The diagnostics, in the same order, with lines and columns; `sources` holds the bytes of the files by path.

    What has a line already keeps it. A place that cannot be found, or a file that is not at hand, gives the first line.
    """
    located = list(diagnostics)
    by_path: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(located):
        if not item.line:
            by_path[item.path].append(index)
    for path, indexes in by_path.items():
        found = _located([located[index] for index in indexes], sources.get(path, b""))
        for index, item in zip(indexes, found, strict=True):
            located[index] = item
    return tuple(located)


def _located(diagnostics: Sequence[Diagnostic], data: bytes) -> list[Diagnostic]:
    text = decode(data, "")
    tree = parse(text, "") if isinstance(text, str) else None
    if not isinstance(tree, cst.Module) or not any(item.place.steps for item in diagnostics):
        return [_at(item, 1, 1, 1, 2) for item in diagnostics]
    wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
    ranges = wrapper.resolve(PositionProvider)
    return [_with_position(item, wrapper.module, ranges) for item in diagnostics]


def _with_position(item: Diagnostic, tree: cst.Module, ranges: Mapping[cst.CSTNode, CodeRange]) -> Diagnostic:
    node = node_at(tree, item.place)
    span = ranges.get(node) if node is not None else None
    if node is None or span is None:
        return _at(item, 1, 1, 1, 2)
    line, column = span.start.line, span.start.column + 1
    offset = _content_offset(node)
    if item.span is not None and offset is not None:
        start, length = item.span
        first = column + offset + start
        return _at(item, line, first, line, first + max(1, length))
    return _at(item, line, column, span.end.line, span.end.column + 1)


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


def _at(item: Diagnostic, line: int, column: int, end_line: int, end_column: int) -> Diagnostic:
    return replace(item, line=line, column=column, end_line=end_line, end_column=end_column)
