"""The constructor of a class, and the types that defaults say."""

from __future__ import annotations

import ast

from ..adoption import FoundClass


def constructor(found: FoundClass) -> ast.FunctionDef | None:
    """The `__init__` that a class statement contains."""
    return next(
        (each for each in found.node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None
    )


def by_default(default: ast.expr | None) -> str | None:
    """The type of a default that is a plain literal; None for None, which says only what else an argument may be."""
    match default:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return type(value).__name__
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return type(value).__name__
        case ast.Tuple(elts=[_, *_] as items) if len({by_default(item) for item in items}) == 1:
            kind = by_default(items[0])
            return None if kind is None else f"tuple[{kind}, ...]"
        case ast.List(elts=items):
            kinds = {by_default(item) for item in items}
            return f"Sequence[{kinds.pop() or 'Any'}]" if len(kinds) == 1 else "Sequence[Any]"
        case ast.Dict() | ast.Call(func=ast.Name(id="dict"), args=[], keywords=[]):
            return "dict[str, Any]"
    return None


def by_value(value: ast.expr | None) -> str | None:
    """The type of a value in a call, as far as its form tells; None if it does not."""
    match value:
        case ast.Constant(value=None):
            return "None"
        case ast.Subscript(slice=ast.Slice()) | ast.ListComp() | ast.Tuple():
            return by_default(value) or "Sequence[Any]"
    return by_default(value)
