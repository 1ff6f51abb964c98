"""Finds the statements inside `if`, `try`, `with`, `match` and loops."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import NodePath
from .imports import dotted

BLOCK = cst.If | cst.Try | cst.TryStar | cst.With | cst.For | cst.While | cst.Match
_PART = cst.Else | cst.Finally | cst.ExceptHandler | cst.ExceptStarHandler | cst.MatchCase


def is_type_checking(test: cst.BaseExpression) -> bool:
    """Whether a condition is `TYPE_CHECKING`, with or without a module, such as `typing` or `t`."""
    return (dotted(test) or "").rpartition(".")[2] == "TYPE_CHECKING"


def inside(node: cst.CSTNode, place: NodePath, checking: bool = False) -> Iterator[tuple[cst.CSTNode, NodePath, bool]]:
    """The statements inside a block, including those of nested blocks.

    The flag means "only for type checkers". Classes and functions are yielded as a whole.
    """
    if isinstance(node, cst.SimpleStatementLine):
        yield from ((small, place / "body" / index, checking) for index, small in enumerate(node.body))
    elif not isinstance(node, BLOCK | _PART):
        yield node, place, checking
    else:
        suite = getattr(node, "body", None)
        only = checking or (isinstance(node, cst.If) and is_type_checking(node.test))
        for index, statement in enumerate(suite.body if isinstance(suite, cst.BaseSuite) else ()):
            yield from inside(statement, place / "body" / "body" / index, only)
        for name in ("handlers", "cases"):
            for index, part in enumerate(getattr(node, name, ())):
                yield from inside(part, place / name / index, checking)
        for name in ("orelse", "finalbody"):
            part = getattr(node, name, None)
            if part is not None:
                yield from inside(part, place / name, checking)
