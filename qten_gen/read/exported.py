"""Reads `__all__`, the names that `from module import *` binds."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable

import libcst as cst

from .annotations import text_of
from .imports import dotted

_METHODS = ("__all__.append", "__all__.extend")


def exported(statements: Iterable[cst.CSTNode]) -> tuple[str, ...] | None:
    """The names in the `__all__` of a file; None if it has none, or one that is computed."""
    found: list[str] | None = None
    for node in statements:
        change = _change(node)
        if change is not None:
            starts_anew, value = change
            names = _names(value)
            if names is None or (found is None and not starts_anew):
                return None
            found = names if starts_anew or found is None else [*found, *names]
    return None if found is None else tuple(dict.fromkeys(found))


def _change(node: cst.CSTNode) -> tuple[bool, cst.BaseExpression | None] | None:
    """Whether a statement assigns `__all__` or extends it, and the value; None for any other statement."""
    match node:
        case cst.Assign(targets=targets) if any(dotted(item.target) == "__all__" for item in targets):
            return True, node.value
        case cst.AnnAssign(target=cst.Name("__all__"), value=value):
            return True, value
        case cst.AugAssign(target=cst.Name("__all__"), operator=cst.AddAssign()):
            return False, node.value
        case cst.Expr(value=cst.Call(args=[cst.Arg(value=value)], func=function)) if dotted(function) in _METHODS:
            single = dotted(function) == "__all__.append"
            return False, cst.List([cst.Element(value)]) if single else value
        case cst.Expr(value=cst.Call(func=function)) if (dotted(function) or "").startswith("__all__."):
            return False, None
    return None


def _names(value: cst.BaseExpression | None) -> list[str] | None:
    """The strings in a list or tuple, or in a sum of these; None for anything else."""
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add):
        left, right = _names(value.left), _names(value.right)
        return None if left is None or right is None else [*left, *right]
    if not isinstance(value, cst.List | cst.Tuple):
        return None
    try:
        found: list[object] = [*literal_eval(text_of(value))]
    except (ValueError, SyntaxError):
        return None
    names = [name for name in found if isinstance(name, str)]
    return names if len(names) == len(found) else None
