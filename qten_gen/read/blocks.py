"""Finds the statements inside `if`, `try`, `with`, `match` and loops."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..model import NodePath
from .bound_names import dotted, imported_names

BLOCK = ast.If | ast.Try | ast.TryStar | ast.With | ast.AsyncWith | ast.For | ast.AsyncFor | ast.While | ast.Match


def suites(node: ast.stmt, place: NodePath) -> Iterator[tuple[list[ast.stmt], NodePath, bool]]:
    """The lists of statements in a block: its body, and those of its handlers, cases, `else` and `finally`.

    The flag means "only for type checkers".
    """
    only = isinstance(node, ast.If) and _is_type_checking(node.test)
    yield getattr(node, "body", []), place / "body", only
    for name in ("handlers", "cases"):
        for index, part in enumerate(getattr(node, name, ())):
            yield part.body, place / name / index / "body", False
    for name in ("orelse", "finalbody"):
        yield getattr(node, name, []), place / name, False


def inside(node: ast.stmt, place: NodePath, checking: bool = False) -> Iterator[tuple[ast.stmt, NodePath, bool]]:
    """The statements inside a block, including those of nested blocks.

    The flag means "only for type checkers". Classes and functions are yielded as a whole.
    """
    for suite, where, only in suites(node, place):
        for index, statement in enumerate(suite):
            if isinstance(statement, BLOCK):
                yield from inside(statement, where / index, checking or only)
            else:
                yield statement, where / index, checking or only


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, class or function, with those of a block instead of it."""
    for node in body:
        if isinstance(node, BLOCK):
            yield from (found for found, _, _ in inside(node, NodePath()))
        else:
            yield node


def bound_inside(node: ast.AST) -> Iterator[str]:
    """The names that a block may bind, those of nested blocks included and those of functions and classes in it left out."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (name for name, _ in imported_names(node, type_checking=False))
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest
    for child in ast.iter_child_nodes(node):
        yield from bound_inside(child)


def _is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is `TYPE_CHECKING`, with or without a module, such as `typing` or `t`."""
    return (dotted(test) or "").rpartition(".")[2] == "TYPE_CHECKING"
