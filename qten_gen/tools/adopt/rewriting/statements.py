"""Statements of a class body, and the lines above and behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement

BLANK = cst.EmptyLine(indent=False)
"""A line without anything."""


def comment_line(text: str) -> cst.EmptyLine:
    """A comment in a line of its own."""
    return cst.EmptyLine(comment=cst.Comment(text))


def comments_in(lines: Iterable[cst.EmptyLine]) -> list[str]:
    """The comments of lines above or behind a statement."""
    return [line.comment.value for line in lines if line.comment is not None]


def is_set_apart(statement: Statement) -> bool:
    """Whether a blank line stands somewhere above a statement and its comments."""
    return any(line.comment is None for line in statement.leading_lines)


def under(lines: Sequence[cst.EmptyLine], statement: Statement) -> Statement:
    """A statement with other lines above it."""
    return statement.with_changes(leading_lines=lines)


def parts_of(line: Statement) -> Sequence[cst.CSTNode]:
    """The statements of a line, which semicolons separate."""
    return line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def without_empty(lines: Iterable[Statement]) -> list[Statement]:
    """The lines that are left. Comments above a removed one are above the next one."""
    kept: list[Statement] = []
    waiting: Sequence[cst.EmptyLine] = ()
    is_waiting = False
    for line in lines:
        above = line.leading_lines
        if not parts_of(line):
            waiting, is_waiting = [*waiting, *above], True
            continue
        if is_waiting:
            above = [*waiting, *above] if comments_in(waiting) else above or waiting
            while not kept and above and above[0].comment is None:
                above = above[1:]  # nothing begins with a blank line
        kept.append(under(above, line))
        waiting, is_waiting = (), False
    return kept


def body_of(node: cst.ClassDef | cst.FunctionDef) -> list[Statement]:
    """The statements of a class or function that is written over several lines."""
    return [each for each in cst.ensure_type(node.body, cst.IndentedBlock).body if isinstance(each, Statement)]


def in_body(cls: cst.ClassDef, body: Sequence[Statement], end: Sequence[cst.EmptyLine] = ()) -> cst.ClassDef:
    """A class with other statements, and with further lines at the end of its body."""
    block = cst.ensure_type(cls.body, cst.IndentedBlock)
    return cls.with_changes(body=block.with_changes(body=body, footer=[*end, *block.footer]))
