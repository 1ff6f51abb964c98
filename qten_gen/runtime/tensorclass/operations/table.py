"""The table of operations: the groups in the order of the documentation, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.error_text import describe
from ..core.stored import Stored
from ..methods.operands import Function
from . import arithmetic, functions, new_objects, reductions, shapes
from .entries import Group, Operation

GROUPS: tuple[Group, ...] = (
    arithmetic.OPERATOR_GROUP,
    arithmetic.GROUP,
    functions.GROUP,
    functions.ACTIVATION_GROUP,
    reductions.GROUP,
    reductions.RUNNING_GROUP,
    shapes.SHAPE_GROUP,
    shapes.TOGETHER_GROUP,
    shapes.SELECTING_GROUP,
    shapes.CREATING_GROUP,
    new_objects.GROUP,
    new_objects.COPYING_GROUP,
    functions.COMPARING_GROUP,
)

OPERATIONS: tuple[Operation, ...] = tuple([operation for group in GROUPS for operation in group.operations])


def _add_what_holds_for_all(group: Group) -> None:
    """Let `help` of a method also show what its group has in common: what becomes of shapes and dtypes, and the errors.

    A method says both itself if its documentation has several lines, or names errors.
    """
    common = group.text.replace(". ", ".\n")
    shared = "\n".join(["Raises:", *(f"    {each}." for each in group.raises)]) if group.raises else ""
    for operation in group.operations:
        doc, _, errors = (operation.method.__doc__ or "").partition("\n\nRaises:")
        if operation.is_method:
            parts = [doc, "" if "\n" in doc else common, f"Raises:{errors}" if errors else shared]
            operation.method.__doc__ = "\n\n".join(part for part in parts if part)


for _group in GROUPS:
    _add_what_holds_for_all(_group)


def methods() -> dict[str, Function]:
    """The methods of the table and their twins in place, by name."""
    made: dict[str, Function] = {}
    for operation in OPERATIONS:
        if operation.is_method:
            made[operation.name] = operation.method
            if operation.in_place is not None:
                made[operation.in_place_name] = operation.in_place
    return made


def torch_functions() -> dict[Callable[..., object], Function]:
    """The handlers of the functions of torch, for calls with an object among the arguments."""
    made: dict[Callable[..., object], Function] = {}
    for operation in OPERATIONS:
        method = _of_input(operation.method) if operation.is_method else operation.method
        made |= dict.fromkeys(operation.torch_functions, operation.handler or method)
    return made


def _of_input(method: Function) -> Function:
    """The method for torch, which calls the object `input`.

    Raises:
        TypeError: another argument is the object.
    """

    def handler(*args: Any, **options: Any) -> Any:
        if "input" in options:
            args = (options.pop("input"), *args)
        if not isinstance(args[0], Stored):
            raise TypeError(f"{method.__name__}: expected the object first, got {describe(args[0])}")
        return method(*args, **options)

    return handler
