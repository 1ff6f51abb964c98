"""The texts of expressions as they are written in the file, and where they stand."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from .source_lines import characters


@runtime_checkable
class Written(Protocol):
    """A node of a syntax tree that says where it is written."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class Extent(NamedTuple):
    """Where something is written. Lines count from 1, columns are the characters before it; `end_column` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


def text_of(node: ast.expr, lines: Sequence[str]) -> str:
    """The text of an expression on one line, without parentheses around it. If it was written on one line, it is unchanged."""
    text = segment(extent(node, lines), lines)
    if "\n" not in text:
        return text
    try:
        return ast.unparse(node)
    except ValueError:  # an integer with too many digits to be written
        return " ".join(text.split())


def extent(node: Written, lines: Sequence[str]) -> Extent:
    """Where a node is written, without parentheses around it."""
    line, last = node.lineno, node.end_lineno or node.lineno
    end = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return Extent(line, characters(lines[line - 1], node.col_offset), last, characters(lines[last - 1], end))


def segment(where: Extent, lines: Sequence[str]) -> str:
    """The text that stands there, with its line breaks."""
    first, last = lines[where.line - 1], lines[where.end_line - 1]
    if where.line == where.end_line:
        return first[where.column : where.end_column]
    return "\n".join([first[where.column :], *lines[where.line : where.end_line - 1], last[: where.end_column]])
