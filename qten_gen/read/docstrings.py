"""Reads the strings that document classes, methods and fields."""

from __future__ import annotations

import ast
from inspect import cleandoc

from .annotations import string_value


def docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The docstring of a class or a function; empty if it has none."""
    return text_of_string(node.body[0])


def text_of_string(node: ast.stmt) -> str:
    """The text of a string statement, which documents what is above it; empty for another statement."""
    text = string_value(node.value) if isinstance(node, ast.Expr) else None
    return cleandoc(text) if text else ""
