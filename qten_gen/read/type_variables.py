"""Reads type variables: `T = TypeVar("T", bound=Tensor)`, and the type parameters of a class, `class Pair[T: Tensor]`.

The syntax tree has type parameters and the `type` statement from Python 3.12 on.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from ..model import NodePath, TypeVariable, union
from .annotations import type_expr
from .bound_names import dotted
from .dotted_names import Scope
from .written import extent, segment

_TYPE_VARIABLE = ("typing.TypeVar", "typing_extensions.TypeVar")

if sys.version_info >= (3, 12):
    TypeAlias = ast.TypeAlias
else:

    class TypeAlias(ast.stmt):
        """The statement `type Name = value`, which this version of Python does not parse."""

        name: ast.Name
        value: ast.expr


def type_parameter_names(node: ast.ClassDef) -> list[str]:
    """The names of the type parameters of a class, without stars."""
    return [parameter.name for parameter in getattr(node, "type_params", ())]


def type_parameters(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> str:
    """The type parameters of a class or function as written, brackets included; empty if it has none."""
    texts = [segment(extent(parameter, scope.lines), scope.lines) for parameter in getattr(node, "type_params", ())]
    return f"[{', '.join(texts)}]" if texts else ""


def class_type_variables(
    node: ast.ClassDef, place: NodePath, scope: Scope, qualname: str
) -> Iterator[tuple[str, TypeVariable]]:
    """The type parameters of a class, by names such as `Class.T`."""
    for index, parameter in enumerate(getattr(node, "type_params", ())):
        where = place / "type_params" / index / "bound"
        yield f"{qualname}.{parameter.name}", _bounded(getattr(parameter, "bound", None), where, scope)


def type_variable(call: ast.Call, place: NodePath, scope: Scope) -> TypeVariable | None:
    """The type variable that a call of `TypeVar` makes; None for another call."""
    if scope.resolve(dotted(call.func) or "") not in _TYPE_VARIABLE:
        return None
    for index, keyword in enumerate(call.keywords):
        if keyword.arg == "bound":
            return _bounded(keyword.value, place / "keywords" / index / "value", scope)
    constraints = [type_expr(item, place / "args" / i, scope) for i, item in enumerate(call.args) if i > 0]
    return TypeVariable(union(tuple(constraints)) if constraints else None)


def _bounded(bound: ast.expr | None, place: NodePath, scope: Scope) -> TypeVariable:
    """A type variable with this bound, or with constraints if the bound is a tuple."""
    if isinstance(bound, ast.Tuple):
        parts = enumerate(bound.elts)
        return TypeVariable(union(tuple(type_expr(part, place / "elts" / i, scope) for i, part in parts)))
    return TypeVariable(None if bound is None else type_expr(bound, place, scope))
