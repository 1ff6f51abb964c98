"""What generated code calls for fields that hold one tensor, or a number that becomes one, or None in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeVar, cast

import torch
from torch import Size, Tensor

from ..core.error_text import describe, label
from ..core.stored import Stored

_CONVERTING: Final = ("autocast", "tensor_only")
"""The flags with which numbers, arrays and lists become tensors."""


def tensor(self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None) -> Tensor:
    """The tensor to store in a field, moved to the object's device.

    Args:
        value: A tensor of shape `[*batch_size, *event]`, of any dtype. In an `autocast` or `tensor_only` class also a number,
            an array or nested lists, of which torch infers the dtype.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast), or a nested one.
        ValueError: its shape does not start with the batch size.
    """
    if type(value) is not Tensor:
        value = as_tensor(self, name, value, device)
    shape = value.shape
    if shape[: len(batch_size)] != batch_size:
        raise ValueError(
            f"{type(self).__name__}.{name}: expected a shape that starts with {[*batch_size]}, got {[*shape]}"
        )
    return on_device(value, device)


def as_tensor(self: Stored, name: str, value: object, device: torch.device | None) -> Tensor:
    """A tensor as it is; of another value the tensor that a class with a flag of `_CONVERTING` makes of it."""
    if isinstance(value, Tensor):
        if value.is_nested:
            raise TypeError(
                f"{label(self, name)}: expected a Tensor whose items have one shape, got a nested one of {len(value)} items "
                "of different lengths; declare the field as Ragged[Tensor]"
            )
        return value
    if value is None or self._flags.isdisjoint(_CONVERTING):
        raise TypeError(f"{label(self, name)}: expected a Tensor, got {describe(value)}{_way_out(value)}")
    try:
        return torch.as_tensor(value, device=device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{label(self, name)}: cannot make a Tensor of {describe(value)}: {error}") from error


def _way_out(value: object) -> str:
    """The end of a message about a value that is not a tensor, where a flag would make one of it."""
    is_convertible = isinstance(value, (int, float, complex, list, tuple)) or hasattr(value, "__array__")
    return "; tensor_only=True on the class converts numbers, arrays and lists" if is_convertible else ""


def on_device(value: Tensor, device: torch.device | None) -> Tensor:
    return value if device is None or value.device == device else value.to(device)


NumberKind = Literal["bool", "int", "float", "complex"]
"""The types that say how a number is stored."""


def number(
    self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None, kind: NumberKind
) -> Tensor:
    """The tensor to store in a field annotated with a number: a number is repeated over the batch.

    Args:
        value: A tensor as for `tensor`, a number, or a number of NumPy.
        kind: The type that the annotation says, which decides the dtype of a number: a 0 in a `float` field is a float.

    Raises:
        TypeError: a number is of a wider type than the annotation: 0.5 in an `int` field, 2 in a `bool` field.
        RuntimeError, OverflowError: a number is too large for the dtype.
    """
    if isinstance(value, Tensor):
        return tensor(self, name, value, batch_size, device)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = cast(Any, value).item()
    if not isinstance(value, (int, float, complex)):
        return tensor(self, name, value, batch_size, device)
    return torch.full(batch_size, _as_kind(self, name, value, kind), device=device)


def _as_kind(self: Stored, name: str, value: complex, kind: NumberKind) -> complex:
    """A number as the type that an annotation says."""
    if kind == "complex":
        return complex(value)
    if kind == "float" and isinstance(value, (int, float)):
        return float(value)
    if kind == "int" and isinstance(value, int):
        return int(value)
    if kind == "bool" and isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise TypeError(
        f"{label(self, name)}: expected {'an' if kind == 'int' else 'a'} {kind}, got {describe(value)}; "
        "pass a Tensor, or change the annotation"
    )


V = TypeVar("V")

Join = Callable[[list[Tensor]], Tensor]
"""`torch.stack` or `torch.cat`: joins along the first dimension, or along the one that a `partial` of it says."""


def all_or_none(self: Stored, name: str, values: Sequence[V | None]) -> list[V] | None:
    """The values of an optional field in several objects, or None where it is None in all of them.

    Raises:
        TypeError: it is None in some of them.
    """
    present = [value for value in values if value is not None]
    if len(present) == len(values):
        return present
    if not present:
        return None
    missing = len(values) - len(present)
    raise TypeError(
        f"{label(self, name)}: expected a value in every object or in none, {missing} of {len(values)} are None"
    )


def in_both(self: Stored, name: str, left: object, right: object) -> bool:
    """True if an optional field has a value in two objects, False where it is None in both.

    Raises:
        TypeError: it is None in one of them.
    """
    if (left is None) is not (right is None):
        all_or_none(self, name, [left, right])
    return left is not None
