"""How functions of torch are called with objects: which of their arguments are operands, and how they are spelt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from ..core.stored import Stored
from ..methods.operands import Function, one, several
from .entries import Effect, Operation, documented

Keywords = dict[str, Any]

_SPELT = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other"}
"""Names of NumPy that torch takes for its own, and passes on as they are."""


def settled(name: str, options: Mapping[str, object]) -> Keywords:
    """Keyword arguments under torch's own names, without those that say nothing.

    Raises:
        TypeError: the result is to be written into `out`, or into the object.
    """
    found = {_SPELT.get(key, key): value for key, value in options.items()}
    if found.pop("out", None) is not None:
        raise TypeError(f"{name}: out= is not supported, the result is a new object; write it with .copy_(...)")
    if found.get("inplace"):
        raise TypeError(f"{name}: inplace=True is not supported, the result is a new object; assign that")
    found.pop("inplace", None)
    return found


def operands_of(
    name: str, operands: Sequence[str], args: tuple[object, ...], options: Keywords
) -> tuple[list[object], tuple[object, ...], Keywords]:
    """The operands of a call in their order, its other positional arguments, and the keyword arguments that are left.

    Raises:
        TypeError: an operand is missing, or an object stands where none may.
    """
    found = list(args[: len(operands)])
    left = dict(options)
    for parameter in operands[len(found) :]:
        if parameter not in left:
            raise TypeError(f"{name}: expected {parameter!r} too")
        found.append(left.pop(parameter))
    rest = args[len(operands) :]
    if not any(isinstance(operand, Stored) for operand in found) or any(
        isinstance(other, Stored) for other in (*rest, *left.values())
    ):
        raise TypeError(
            f"{name} takes an object for {' and '.join(map(repr, operands))} only; pass the tensors, with .apply or "
            "field by field"
        )
    return found, rest, left


def among(name: str, function: Function, operands: Sequence[object], *settings: object, **options: object) -> Stored:
    """`function` of operands, one of which is an object at least, applied to the tensors of each field.

    Args:
        settings: What the function gets behind the operands, the same for each field.

    Raises:
        TypeError: an operand is of another type.
        ValueError: the batch sizes differ, or a tensor does not broadcast.
        RuntimeError: torch refuses a tensor; the field is named.
    """
    at = [isinstance(operand, Stored) for operand in operands].index(True)
    self, others = operands[at], (*operands[:at], *operands[at + 1 :])
    assert isinstance(self, Stored)

    def placed(tensor: Tensor, *rest: object) -> Tensor:
        result: Tensor = function(*rest[:at], tensor, *rest[at:], *settings, **options)
        return result

    return several(self, placed, others, name) if others else one(self, placed, name)


def among_operands(method: Function, function: Function, name: str, operands: tuple[str, ...]) -> Function:
    """The handler of a torch function of several operands: the method where the first is an object, else the function itself."""

    def handler(*args: object, **options: object) -> object:
        found, settings, left = operands_of(name, operands, args, options)
        if isinstance(found[0], Stored):
            return method(*found, *settings, **left)
        return among(name, function, found, *settings, **left)

    return handler


def pointwise(
    name: str,
    doc: str,
    *torch_functions: Function,
    operands: tuple[str, ...] = ("input",),
    beyond: Effect = Effect.KEEPS,
) -> Operation:
    """An entry for functions of torch that are not methods, applied to every tensor. `operands` may be objects."""
    applied = torch_functions[0]

    def handler(*args: object, **options: object) -> Stored:
        found, settings, left = operands_of(name, operands, args, options)
        return among(name, applied, found, *settings, **left)

    return Operation(
        name,
        doc,
        documented(handler, name, doc),
        torch_functions,
        documented(handler, name, doc),
        beyond=beyond,
        form=f"function of {len(operands)}",
        is_method=False,
    )
