"""Reads the arguments of calls and class statements in the order in which they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..model import NodePath


class CallArgument(NamedTuple):
    """An argument of a call, and the place of its value."""

    keyword: str | None
    """The keyword; None for a positional or an unpacked argument."""
    star: str
    """`*` or `**` for an unpacked argument; otherwise empty."""
    value: ast.expr
    place: NodePath


def call_arguments(node: ast.Call, place: NodePath) -> list[CallArgument]:
    """All arguments of a call. The syntax tree lists keywords apart, but `f(x=1, *rest)` is valid."""
    found = [*positional(node.args, place / "args"), *keywords(node.keywords, place / "keywords")]
    return sorted(found, key=lambda argument: (argument.value.lineno, argument.value.col_offset))


def positional(nodes: Iterable[ast.expr], place: NodePath) -> Iterator[CallArgument]:
    """The arguments without a keyword, of a call or of a class statement."""
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Starred):
            yield CallArgument(None, "*", node.value, place / index / "value")
        else:
            yield CallArgument(None, "", node, place / index)


def keywords(nodes: Iterable[ast.keyword], place: NodePath) -> Iterator[CallArgument]:
    """The arguments with a keyword, and unpacked mappings."""
    for index, node in enumerate(nodes):
        yield CallArgument(node.arg, "" if node.arg else "**", node.value, place / index / "value")


def called(node: ast.expr) -> ast.expr:
    """The function of a call, such as that of a decorator with arguments; any other expression itself."""
    return node.func if isinstance(node, ast.Call) else node
