"""The gate for text that comes from a string in a source, such as a quoted annotation: what is no expression goes no further."""

from __future__ import annotations

import ast
import warnings

_NOT_IN_ANNOTATIONS = (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
"""Expressions that are a syntax error in an annotation, or bind a name."""


def parsed_expression(text: str) -> ast.expr | None:
    """The expression in a text; None if it is not one.

    >>> ast.unparse(parsed_expression("Tensor  # of ids"))
    'Tensor'
    >>> parsed_expression("int:\\n print(1)") is None
    True
    """
    with warnings.catch_warnings():
        # A warning about the text, such as of an unknown escape, would name no file of the user's.
        warnings.simplefilter("ignore")
        try:
            # `strip`, because spaces at its beginning would be an indentation.
            node = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return None if any(isinstance(part, _NOT_IN_ANNOTATIONS) for part in ast.walk(node)) else node


def annotation_text(text: str) -> str | None:
    """An annotation out of its quotes, as generated code may contain it; None if it is not an expression.

    It is as it was written, or written anew if a part of it is not code (a comment, a line break) or needs parentheses.

    >>> annotation_text("'dict[str, Tensor]'")
    'dict[str, Tensor]'
    >>> annotation_text("'Tensor  # of ids'")
    'Tensor'
    """
    node = parsed_expression(text)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return annotation_text(node.value)
    if node is None:
        return None
    is_plain = "#" not in text and len(text.splitlines()) == 1 and not isinstance(node, ast.Tuple)
    return text.strip() if is_plain else ast.unparse(node)
