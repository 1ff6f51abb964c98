"""The table of operations: the groups in the order of the documentation, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..methods.operands import Function
from . import arithmetic, casting, copying, functions, losses, reduction_table, shape_table, special
from .entries import Group, Operation

GROUPS: tuple[Group, ...] = (
    special.GROUP,
    arithmetic.GROUP,
    functions.GROUP,
    reduction_table.GROUP,
    reduction_table.RUNNING_GROUP,
    shape_table.SHAPE_GROUP,
    shape_table.TOGETHER_GROUP,
    shape_table.SELECTING_GROUP,
    shape_table.CREATING_GROUP,
    casting.GROUP,
    copying.GROUP,
    losses.GROUP,
)

OPERATIONS: tuple[Operation, ...] = tuple([operation for group in GROUPS for operation in group.operations])


def methods() -> dict[str, object]:
    """What is set on TensorClass, by name: the methods of the table and their twins in place."""
    made: dict[str, object] = {}
    for operation in OPERATIONS:
        if operation.is_method:
            made[operation.name] = classmethod(operation.method) if operation.on_class else operation.method
            if operation.in_place is not None:
                made[operation.in_place_name] = operation.in_place
    return made


def torch_functions() -> dict[Callable[..., object], Function]:
    """What to call for the functions of torch, where one of their arguments is an object."""
    made: dict[Callable[..., object], Function] = {}
    for operation in OPERATIONS:
        made |= dict.fromkeys(operation.torch_functions, operation.handler or _of_input(operation.method))
        if operation.in_place is not None:
            made |= dict.fromkeys(operation.in_place_torch_functions, operation.in_place)
    return made


def _of_input(method: Function) -> Function:
    """The method for torch, which calls the object `input`."""

    def handler(*args: Any, **options: Any) -> Any:
        if "input" in options:
            args = (options.pop("input"), *args)
        return method(*args, **options)

    return handler
