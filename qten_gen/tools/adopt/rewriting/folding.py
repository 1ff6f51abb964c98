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
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The attributes of a statement that hold statements."""

Kept = Collection[ast.AST]
"""The classes that change, and those of their methods whose bodies change."""


def rewritten_parts(text: str, tree: ast.Module, kept: Kept, change: Callable[[cst.Module], cst.Module]) -> str:
    """The text of a file with a change to its imports and to some of its classes.

    Raises:
        CannotRewrite: libcst cannot parse these, or would not write them back as they were.
    """
    if _MARK in text:
        return rewritten(text, change)
    lines: list[str] = _LINE.findall(text)
    folded: list[str] = []
    for first, last in reversed([*_foldable(tree.body, kept, lines)]):
        whole = "".join(lines[first - 1 : last])
        content = whole.strip(" \t\f\r\n")
        before, _, behind = whole.partition(content)
        lines[first - 1 : last] = [f"{before}{_MARK}{len(folded)}_{behind}"]
        folded.append(content)
    changed = rewritten("".join(lines), change)
    return re.sub(rf"{_MARK}(\d+)_", lambda found: folded[int(found[1])], changed)


def _foldable(body: Sequence[ast.stmt], kept: Kept, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each part that can be left out, in their order."""
    ends = [0, *(_last(each) for each in body)]
    starts = [*(_first(each) for each in body[1:]), len(lines) + 1]
    for statement, end_before, start_behind in zip(body, ends, starts, strict=False):
        blocks = [block for name in _BLOCKS for block in _statements(getattr(statement, name, ()))]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        if isinstance(statement, ast.ClassDef) and statement in kept:
            yield from (
                (_first(each.body[0]), _last(each))
                for each in statement.body
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each not in kept
                if _begins_line(each.body[0], lines)
            )
        elif not isinstance(statement, ast.ClassDef) and any(_holds(block, kept) for block in blocks):
            for block in blocks:
                yield from _foldable(block, kept, lines)
        elif end_before < _first(statement) and _last(statement) < start_behind and _begins_line(statement, lines):
            yield _first(statement), _last(statement)


def _statements(found: object) -> Iterator[list[ast.stmt]]:
    """The blocks of statements in the attribute of a statement, whose handlers and cases have blocks of their own."""
    if isinstance(found, list) and found:
        if isinstance(found[0], ast.stmt):
            yield found
        else:
            yield from (each.body for each in found if hasattr(each, "body"))


def _holds(block: Sequence[ast.stmt], kept: Kept) -> bool:
    """Whether a class that changes is in a block, or in a block inside it."""
    return any(
        statement in kept
        or any(_holds(inner, kept) for name in _BLOCKS for inner in _statements(getattr(statement, name, ())))
        for statement in block
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
    )


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
