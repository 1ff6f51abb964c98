"""Reads `__all__`, the names that `from module import *` binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .bound_names import dotted


def exported(statements: Iterable[ast.stmt]) -> tuple[str, ...] | None:
    """The names in the `__all__` of a file; None if it has none, or one that is computed."""
    found: list[str] | None = None
    for node in statements:
        change = _change(node)
        if change is not None:
            starts_anew, value = change
            names = _names(value)
            if names is None or (found is None and not starts_anew):  # it extends a list that a star import binds
                return None
            found = names if starts_anew or found is None else [*found, *names]
    return None if found is None else tuple(dict.fromkeys(found))


def _change(node: ast.stmt) -> tuple[bool, ast.expr | None] | None:
    """Whether a statement assigns `__all__` or extends it, and the value; None for any other statement."""
    match node:
        case ast.Assign(targets=targets) if any(dotted(target) == "__all__" for target in targets):
            return True, node.value
        case ast.AnnAssign(target=ast.Name("__all__")):
            return True, node.value
        case ast.AugAssign(target=ast.Name("__all__"), op=ast.Add()):
            return False, node.value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name("__all__"), attr=method)) as call):
            return False, _added(method, call)
    return None


def _added(method: str, call: ast.Call) -> ast.expr | None:
    """The list that a call of a method of `__all__` adds; None for a call that changes it in another way."""
    match method, call.args, call.keywords:
        case "append", [value], []:
            return ast.List(elts=[value])
        case "extend", [value], []:
            return value
    return None


def _names(value: ast.expr | None) -> list[str] | None:
    """The strings in a list or tuple, or in a sum of these; None for anything else."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _names(value.left), _names(value.right)
        return None if left is None or right is None else [*left, *right]
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    try:
        found: list[object] = [*ast.literal_eval(value)]
    except (ValueError, TypeError):
        return None
    names = [name for name in found if isinstance(name, str)]
    return names if len(names) == len(found) else None
