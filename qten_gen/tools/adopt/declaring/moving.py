"""Statements of a constructor, as `__post_init__` does them: `dim` is `self.dim` there."""

from __future__ import annotations

import ast

from .context import Context
from .pieces import Stays


def names_read(node: ast.stmt, context: Context) -> dict[str, str]:
    """What a statement reads in place of names of the constructor.

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
    loads = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    return {name: text for name in loads if (text := _read(name, context)) is not None}


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
