"""Finds what the `__init__` of a class registers: `self.scale = nn.Parameter(...)`, `self.register_buffer("table", ...)`.

The rule `uninitialised-child` asks whether a class that has such tensors can initialise them again.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from .annotations import string_value
from .imports import dotted
from .names import Scope

_TENSORS = frozenset(f"torch.nn.{name}" for name in ("Parameter", "Buffer", "parameter.Parameter", "parameter.Buffer"))
_REGISTER = ("register_buffer", "register_parameter")


def registered_state(node: cst.FunctionDef, scope: Scope) -> tuple[str, ...]:
    """The names of the parameters and buffers that a method registers, in its blocks too."""
    parameters = [*node.params.posonly_params, *node.params.params]
    return tuple(dict.fromkeys(_in(node.body, parameters[0].name.value, scope))) if parameters else ()


def _in(block: cst.BaseSuite, object_name: str, scope: Scope) -> Iterator[str]:
    for statement in block.body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                yield from _registered(small, object_name, scope)
        else:
            body = getattr(statement, "body", None)
            if isinstance(body, cst.BaseSuite) and not isinstance(statement, cst.FunctionDef | cst.ClassDef):
                yield from _in(body, object_name, scope)


def _registered(node: cst.BaseSmallStatement, object_name: str, scope: Scope) -> Iterator[str]:
    """The names of tensors that a statement of an `__init__` registers."""
    match node:
        case (
            cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call(func=function))
            | cst.AnnAssign(target=target, value=cst.Call(func=function))
        ):
            name = dotted(target) or ""
            if name.startswith(f"{object_name}.") and scope.resolve(dotted(function) or "") in _TENSORS:
                yield name.removeprefix(f"{object_name}.")
        case cst.Expr(
            value=cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=method)), args=arguments)
        ) if owner == object_name and method in _REGISTER and len(arguments) > 1:
            given = string_value(arguments[0].value)
            if given and dotted(arguments[1].value) != "None":
                yield given
