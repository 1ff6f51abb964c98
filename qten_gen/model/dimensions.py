"""Expressions over constructor arguments: `"3*dim"`, `"config.hidden_size // config.heads"`, `"hidden or 4*dim"`.

They are Python's, with its precedence. `read.dimensions` reads them for both readers, and admits few kinds of nodes. Rules check
the names in them and their types.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache

from ..common.python_text import double_quoted
from ..common.records import record


@record(frozen=True, slots=True)
class Dim:
    """An expression over constructor arguments. As a dimension, it is an integer."""

    text: str
    """Its canonical text, which `canonical` writes: `3 * dim` for `"3*dim"`."""

    @property
    def node(self) -> ast.expr:
        """Its syntax tree, which must not be changed."""
        return _node(self.text)

    @property
    def name(self) -> str | None:
        """The config field or the derived value that it is; None for another expression."""
        return self.text if isinstance(self.node, ast.Name) else None


@record(frozen=True, slots=True)
class DimError:
    """An expression that cannot be read: `"3*"`. It stays in the source layer, and the rule `invalid-dimension` reports it."""

    text: str
    """The whole expression: `3*`."""
    problem: str
    """The problem in it: `a number or a name is missing at the end`."""
    offset: int
    """The position of the mistake in `text`, counted from 0."""


@lru_cache(maxsize=1024)
def _node(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def canonical(node: ast.expr) -> str:
    """The text of an expression in the style of generated code.

    >>> canonical(ast.parse("((a+b))*c if norm=='rms' else 1e-3", mode="eval").body)
    '(a + b) * c if norm == "rms" else 0.001'
    """
    return re.sub(_STRING, lambda found: double_quoted(found[0]), ast.unparse(node))


_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_SPACED = rf"""({_STRING})| (\*\*|//|[-+*/%]) """


def to_python(dim: Dim, builtin: Callable[[str], str] = str) -> str:
    """The expression as generated code contains it.

    Args:
        dim: The expression.
        builtin: How the text writes a function, whose name a field may have.
    """
    called = {
        node.func.id for node in ast.walk(dim.node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    if all(builtin(name) == name for name in called):
        return dim.text
    # Parsed anew, because `node` is cached and must not change.
    return canonical(_Functions(builtin).visit(ast.parse(dim.text, mode="eval").body))


class _Functions(ast.NodeTransformer):
    """Writes the names of functions."""

    def __init__(self, builtin: Callable[[str], str]) -> None:
        self.builtin = builtin

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call of a function by another name."""
        self.generic_visit(node)
        return ast.Call(ast.Name(self.builtin(ast.unparse(node.func)), ast.Load()), node.args, [])


def in_words(dim: Dim | ast.expr) -> str:
    """The expression as documentation and messages show it, without spaces around the operators of arithmetic: `3*dim`."""
    text = dim.text if isinstance(dim, Dim) else canonical(dim)
    return re.sub(_SPACED, lambda found: found[1] or found[2], text)


def dim_names(dim: Dim) -> frozenset[str]:
    """The config fields and derived values that an expression reads."""
    return frozenset(_names(dim.node))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    # The name of a function is no field.
    for part in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
        yield from _names(part)


def path_of(node: ast.AST) -> str | None:
    """The dotted name that an expression is: `config.heads`; None for another expression."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            inner = path_of(value)
            return None if inner is None else f"{inner}.{name}"
    return None


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
