"""Reads the strings that document classes, methods and fields."""

from __future__ import annotations

import ast

from .annotations import string_value


def docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The docstring of a class or a function; empty if it has none."""
    return text_of_string(node.body[0])


def text_of_string(node: ast.stmt) -> str:
    """The text of a string statement, which documents what is above it; empty for another statement."""
    text = string_value(node.value) if isinstance(node, ast.Expr) else None
    return cleandoc(text) if text else ""


def cleandoc(text: str) -> str:
    """The same as `inspect.cleandoc` since Python 3.13. Importing `inspect` takes longer than reading the file.

    >>> cleandoc(" Tokens.\\n\\n        As ids.\\n    ")
    'Tokens.\\n\\nAs ids.'
    """
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in others if line.strip(" ")), default=None)
    lines = [first.lstrip(" "), *(line[margin:] for line in others)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)
