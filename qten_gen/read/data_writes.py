"""Finds writes through `.data` in a method: `self.weight.data = value`, `self.weight.data[0] = 1`, `self.weight.data.mul_(2)`.

They change a tensor but not its version counter, so a cached virtual tensor does not notice them. The rule `untracked-mutation`
reports them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import DataWrite, NodePath
from .signatures import Function, positional_parameters


def data_writes(node: Function, place: NodePath) -> tuple[DataWrite, ...]:
    """The writes in a function, including nested functions. Its first parameter is the object."""
    parameters = positional_parameters(node)
    if not parameters:
        return ()
    body = enumerate(node.body)
    return tuple(found for index, item in body for found in _writes(item, place / "body" / index, parameters[0].arg))


def _writes(node: ast.AST, place: NodePath, object_name: str) -> Iterator[DataWrite]:
    """The writes at `node` and below it: assignments to `.data` or into it, and calls of its methods that end in `_`."""
    targets: list[tuple[ast.expr, NodePath]] = []
    if isinstance(node, ast.Assign):
        targets = [(target, place / "targets" / index) for index, target in enumerate(node.targets)]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [(node.target, place / "target")]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _changes(node.func.attr):
        targets = [(node.func.value, place / "func" / "value")]
    for target, where in targets:
        while isinstance(target, ast.Subscript):
            target, where = target.value, where / "value"
        name = _attribute_with_data(target, object_name)
        if name is not None:
            yield DataWrite(name, where)
    for child, where in _children(node, place):
        yield from _writes(child, where, object_name)


def _changes(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__")


def _attribute_with_data(node: ast.expr, object_name: str) -> str | None:
    """`weight` of `self.weight.data`."""
    match node:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=owner), attr=name), attr="data") if (
            owner == object_name
        ):
            return name
    return None


def _children(node: ast.AST, place: NodePath) -> Iterator[tuple[ast.AST, NodePath]]:
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield value, place / name
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield item, place / name / index
