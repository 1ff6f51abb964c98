"""Leaves out of a source what a codemod does not change, so that libcst parses a fifth of it: the bodies of methods, for one.

libcst needs eleven times as long as `ast`, and most of it for them. A name stands for each in the text that the codemod sees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence

import libcst as cst

from ....generate.rewriting import rewritten

_MARK = "__folded_by_qten_gen_"
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def rewritten_parts(
    text: str, tree: ast.Module, kept: Collection[ast.stmt], change: Callable[[cst.Module], cst.Module]
) -> str:
    """The text of a file with a change to its imports and to some of its classes.

    Args:
        text: The text.
        tree: Its tree.
        kept: The classes that change, and those of their methods whose bodies change.
        change: The change.

    Raises:
        CannotRewrite: libcst cannot parse these, or would not write them back as they were.
    """
    if _MARK in text:
        return rewritten(text, change)
    lines: list[str] = _LINE.findall(text)
    folded: list[str] = []
    # From the end, so that the lines above keep their numbers.
    for first, last in sorted(_foldable(tree, kept, lines), reverse=True):
        whole = "".join(lines[first - 1 : last])
        content = whole.strip(" \t\f\r\n")
        before, _, behind = whole.partition(content)
        lines[first - 1 : last] = [f"{before}{_MARK}{len(folded)}_{behind}"]
        folded.append(content)
    changed = rewritten("".join(lines), change)
    return re.sub(rf"{_MARK}(\d+)_", lambda found: folded[int(found[1])], changed)


def _foldable(node: ast.AST, kept: Collection[ast.stmt], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each part of a block that can be left out."""
    body = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
    starts = [*map(_first, body[1:]), len(lines) + 1]
    ends = [0, *map(_last, body)]
    for statement, before, behind in zip(body, ends, starts, strict=False):
        first, last = _first(statement), _last(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        if statement in kept:
            methods = (
                each for each in ast.iter_child_nodes(statement) if isinstance(each, _FUNCTION) and each not in kept
            )
            yield from ((_first(each.body[0]), _last(each)) for each in methods if _begins_line(each.body[0], lines))
        elif any(first <= each.lineno <= last for each in kept):
            blocks = (each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt))
            for block in (statement, *blocks):
                yield from _foldable(block, kept, lines)
        # It shares no line with another statement.
        elif before < first and last < behind and _begins_line(statement, lines):
            yield first, _with_comments(last, lines[first - 1], lines)


def _with_comments(last: int, line: str, lines: Sequence[str]) -> int:
    """The last line of a statement, with the comments below that are indented deeper than its first line."""
    for number, each in enumerate(lines[last:], last + 1):
        text = each.lstrip()
        if text and not text.startswith("#"):
            break
        if text and len(each) - len(text) > len(line) - len(line.lstrip()):
            last = number
    return last


def _begins_line(statement: ast.stmt, lines: Sequence[str]) -> bool:
    """Whether nothing but blanks stands before a statement in its line."""
    return (
        bool(getattr(statement, "decorator_list", []))
        or not lines[statement.lineno - 1][: statement.col_offset].strip()
    )


def _first(statement: ast.stmt) -> int:
    """The line of a statement, or of its first decorator."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
