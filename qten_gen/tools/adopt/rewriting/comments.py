"""The comments of a constructor, and which of its parts each belongs to."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from .statements import body_of, comments_in, is_set_apart


@dataclass(slots=True)
class Comments:
    """The comments of one part."""

    above: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    """The comments at the end of its last line."""
    is_apart: bool = False
    """Whether a blank line stands above it."""


def comments_of(
    init: cst.FunctionDef, node: ast.FunctionDef, receivers: Mapping[ast.AST, ast.AST], kept: Collection[ast.AST]
) -> tuple[dict[ast.AST, Comments], list[str]]:
    """The comments of each part, and those behind the last one.

    Args:
        init: The constructor.
        node: The same, as the levels know it.
        receivers: Its arguments and statements that something comes of, each with the one whose comments it adds to.
        kept: The statements that stay as they are, the comments inside them included.
    """
    found = {part: Comments() for part in receivers.values()}
    waiting: list[str] = []
    for part, comments in (*_of_arguments(init, node), *_of_statements(init, node, kept)):
        receiver = receivers.get(part) if part is not None else None
        if receiver is None:
            waiting += comments.above + comments.after
            continue
        own = found[receiver]
        own.above += waiting + comments.above
        own.after += comments.after
        own.is_apart |= comments.is_apart and receiver is part
        waiting = []
    footer = comments_in(init.body.footer) if isinstance(init.body, cst.IndentedBlock) else []
    return found, waiting + footer


_Parts = Iterator[tuple[ast.AST | None, Comments]]


def _of_arguments(init: cst.FunctionDef, node: ast.FunctionDef) -> _Parts:
    """The comments beside each argument. Those between arguments, with None, are for the next part."""
    arguments = {each.arg: each for each in (*node.args.args, *node.args.kwonlyargs)}
    yield None, Comments(_texts(init.whitespace_before_params))
    for each in (*init.params.params, init.params.star_arg, *init.params.kwonly_params):
        if isinstance(each, cst.Param | cst.ParamStar):
            space = getattr(each.comma, "whitespace_after", getattr(each, "whitespace_after_param", None))
            comment = space.first_line.comment if isinstance(space, cst.ParenthesizedWhitespace) else None
            beside = [] if comment is None else [comment.value]
            yield arguments[each.name.value] if isinstance(each, cst.Param) else None, Comments([], beside)
            yield None, Comments([text for text in _texts(each) if text not in beside])


def _of_statements(init: cst.FunctionDef, node: ast.FunctionDef, kept: Collection[ast.AST]) -> _Parts:
    """The comments of each statement. The one behind the head of the constructor is for the next part."""
    yield None, Comments(_texts(cst.ensure_type(init.body, cst.IndentedBlock).header))
    for part, statement in zip(node.body, body_of(init), strict=True):
        above = comments_in(statement.leading_lines)
        after = _texts(statement.trailing_whitespace) if isinstance(statement, cst.SimpleStatementLine) else []
        inside = [] if part in kept else _texts(statement)[len(above) :]
        yield (
            part,
            Comments(
                above + inside[: len(inside) - len(after)], inside[len(inside) - len(after) :], is_set_apart(statement)
            ),
        )


def _texts(node: cst.CSTNode) -> list[str]:
    """All comments in a node, in their order."""
    found = _Found()
    node.visit(found)
    return found.texts


class _Found(cst.CSTVisitor):
    """Collects comments."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def visit_Comment(self, node: cst.Comment) -> None:
        self.texts.append(node.value)
