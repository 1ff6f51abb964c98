"""Reads what an assigned value means as a type: `Tokens = Int[Tensor, "b"]`, `Ids = NewType("Ids", Tensor)`."""

from __future__ import annotations

import ast

from ..model import NodePath, TypeExpr
from .annotations import type_expr
from .bound_names import dotted
from .calls import call_arguments
from .dotted_names import Scope

_LONGEST = 200
"""The length of the strings that are read as forward references."""

_NEW_TYPES = frozenset({"typing.NewType", "typing_extensions.NewType"})
_ALIAS_TYPES = frozenset({"typing.TypeAliasType", "typing_extensions.TypeAliasType"})


def alias(value: ast.expr, place: NodePath, scope: Scope) -> TypeExpr | None:
    """The type that a name stands for if this value is assigned to it; None for a value that is not a type.

    A NewType counts as the type that it is made from.
    """
    if isinstance(value, ast.Call):
        return _made(value, place, scope)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        # Long strings are texts, which need not be parsed as types.
        return type_expr(value, place, scope) if len(value.value) <= _LONGEST else None
    is_type = dotted(value) is not None or isinstance(value, ast.Subscript | ast.BinOp)
    return type_expr(value, place, scope) if is_type else None


def _made(call: ast.Call, place: NodePath, scope: Scope) -> TypeExpr | None:
    """The type of a NewType or a TypeAliasType."""
    maker = scope.resolve(dotted(call.func) or "")
    if maker not in _NEW_TYPES | _ALIAS_TYPES:
        return None
    for position, argument in enumerate(call_arguments(call, place)):
        if argument.keyword in ("tp", "value") or (argument.keyword is None and position == 1):
            return type_expr(argument.value, argument.place, scope)
    return None
