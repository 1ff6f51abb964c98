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
    """Those at the end of its last line."""
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
    """The comments of each argument; those between arguments, with None, are for the next part."""
    arguments = {each.arg: each for each in (*node.args.args, *node.args.kwonlyargs)}
    parameters = init.params
    yield None, Comments(_beside(init.whitespace_before_params) + _below(init.whitespace_before_params))
    for each in (*parameters.params, parameters.star_arg, *parameters.kwonly_params):
        if not isinstance(each, cst.Param | cst.ParamStar):
            continue
        space = getattr(each.comma, "whitespace_after", getattr(each, "whitespace_after_param", None))
        beside, below = _beside(space), _below(space)
        inside = [comment for comment in _texts(each) if comment not in beside + below]
        part = arguments[each.name.value] if isinstance(each, cst.Param) else None
        yield part, Comments(inside, beside)
        yield None, Comments(below)


def _of_statements(init: cst.FunctionDef, node: ast.FunctionDef, kept: Collection[ast.AST]) -> _Parts:
    """The comments of each statement. Those at the end of the line that the body begins behind are for the next part."""
    block = cst.ensure_type(init.body, cst.IndentedBlock)
    yield None, Comments([block.header.comment.value] if block.header.comment else [])
    for part, statement in zip(node.body, body_of(init), strict=True):
        above = comments_in(statement.leading_lines)
        space = getattr(statement, "trailing_whitespace", None)
        after = [space.comment.value] if isinstance(space, cst.TrailingWhitespace) and space.comment else []
        inside = _texts(statement)[len(above) :]
        comments = Comments(above, [], is_set_apart(statement))
        if part not in kept:
            comments.above += inside[: len(inside) - len(after)]
            comments.after += after
        yield part, comments


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


def _beside(space: object) -> list[str]:
    """The comment at the end of a line inside parentheses."""
    comment = space.first_line.comment if isinstance(space, cst.ParenthesizedWhitespace) else None
    return [] if comment is None else [comment.value]


def _below(space: object) -> list[str]:
    """The comments in the lines below, up to the next part."""
    return comments_in(space.empty_lines) if isinstance(space, cst.ParenthesizedWhitespace) else []
