"""Finds what the `__init__` of a class registers: `self.scale = nn.Parameter(...)`, `self.register_buffer("table", ...)`.

The rule `uninitialised-child` asks whether a class that has such tensors can initialise them again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .annotations import string_value
from .blocks import BLOCK
from .imports import dotted
from .names import Scope
from .signatures import Function, positional_parameters

_TENSORS = frozenset(f"torch.nn.{name}" for name in ("Parameter", "Buffer", "parameter.Parameter", "parameter.Buffer"))
_REGISTER = ("register_buffer", "register_parameter")


def registered_state(node: Function, scope: Scope) -> tuple[str, ...]:
    """The names of the parameters and buffers that a method registers, in its blocks too."""
    parameters = positional_parameters(node)
    return tuple(dict.fromkeys(_in(node.body, parameters[0].arg, scope))) if parameters else ()


def _in(statements: Iterable[ast.stmt], object_name: str, scope: Scope) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, BLOCK):
            yield from _in(getattr(statement, "body", ()), object_name, scope)
        else:
            yield from _registered(statement, object_name, scope)


def _registered(node: ast.stmt, object_name: str, scope: Scope) -> Iterator[str]:
    """The names of tensors that a statement of an `__init__` registers."""
    match node:
        case (
            ast.Assign(targets=[target], value=ast.Call(func=function))
            | ast.AnnAssign(target=target, value=ast.Call(func=function))
        ):
            name = dotted(target) or ""
            if name.startswith(f"{object_name}.") and scope.resolve(dotted(function) or "") in _TENSORS:
                yield name.removeprefix(f"{object_name}.")
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method), args=arguments, keywords=keywords)
        ) if owner == object_name and method in _REGISTER and arguments:
            given = string_value(arguments[0])
            values = [*arguments[1:], *(keyword.value for keyword in keywords)]
            if given and values and dotted(values[0]) != "None":
                yield given
