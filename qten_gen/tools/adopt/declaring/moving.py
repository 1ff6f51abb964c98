"""Statements of a constructor, as `__post_init__` does them: `dim` is `self.dim` there."""

from __future__ import annotations

import ast

from ....common.text_edits import Edit, edited
from .context import Context
from .pieces import Stays


def moved_text(node: ast.stmt, context: Context) -> str:
    """The text of a statement in which names of arguments are attributes. Everything else stays as it is written.

    Raises:
        Stays: it gives one of these names another meaning.
    """
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {
        each.id
        for part in ast.walk(node)
        if isinstance(part, ast.comprehension)
        for each in ast.walk(part.target)
        if isinstance(each, ast.Name)
    }
    if bound & (context.types.keys() | context.names.keys()):
        raise Stays("the statement redefines a name of the constructor", node)
    changes = [
        (each, text)
        for each in ast.walk(node)
        if isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Load)
        and (text := _read(each.id, context)) is not None
    ]
    in_strings = {id(each) for part in ast.walk(node) if isinstance(part, ast.JoinedStr) for each in ast.walk(part)}
    if any(id(each) in in_strings for each, _ in changes):
        return _unparsed(node, context)
    start, end = context.file.text.span(node)
    edits = []
    for each, text in changes:
        first, last = context.file.text.span(each)
        edits.append(Edit(first - start, last - start, text))
    return edited(context.file.text.content[start:end], edits)


def _unparsed(node: ast.stmt, context: Context) -> str:
    """The statement written anew: Python 3.11 gives no positions inside f-strings."""

    class Reading(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            text = _read(node.id, context) if isinstance(node.ctx, ast.Load) else None
            return node if text is None else ast.parse(text, mode="eval").body

    copied = ast.parse(ast.unparse(node)).body[0]
    lines = ast.unparse(Reading().visit(copied)).splitlines()
    blank = " " * node.col_offset
    return "\n".join([lines[0], *(f"{blank}{line}" if line else "" for line in lines[1:])])


def _read(name: str, context: Context) -> str | None:
    """How `__post_init__` reads a name of the constructor; None if the name stays."""
    if name in context.names:
        found = context.names[name]
        if found is None:
            return None
        return _of_self(found) if isinstance(found, ast.Name) else f"({_of_self(found)})"
    return f"self.{name}" if name in context.types else None


def _of_self(node: ast.expr) -> str:
    """An expression over fields, read from `self`; functions that it calls stay."""

    copied = ast.parse(ast.unparse(node), mode="eval").body
    called = {id(each.func) for each in ast.walk(copied) if isinstance(each, ast.Call)}

    class Reading(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return node if id(node) in called else ast.Attribute(ast.Name("self", ast.Load()), node.id, ast.Load())

    return ast.unparse(Reading().visit(copied))
