"""Tensor fields: the checks and conversions that generated code calls when a value is not simply a Tensor that fits.

Generated constructors and setters test the common case themselves. Operations on tensor fields need nothing from here.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Size, Tensor

from ..core.errors import describe, label
from ..core.locks import locked
from ..core.stored import Stored

_CONVERTING: Final = ("autocast", "tensor_only")
"""The flags with which numbers, arrays and lists become tensors."""


def tensor(self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None) -> Tensor:
    """The tensor to store in a field, moved to the object's device.

    Args:
        value: A tensor of shape `[*batch_size, *event]`, of any dtype. In an `autocast` or `tensor_only` class also a number,
            an array or nested lists, of which torch infers the dtype.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast).
        ValueError: its shape does not start with the batch size.
    """
    if not isinstance(value, Tensor):
        value = as_tensor(self, name, value, device)
    shape = value.shape
    if shape[: len(batch_size)] != batch_size:
        raise ValueError(
            f"{type(self).__name__}.{name}: expected a shape that starts with {[*batch_size]}, got {[*shape]}"
        )
    return on_device(value, device)


def checked_tensor(self: Stored, name: str, value: Tensor) -> Tensor:
    """The tensor to store where a field is set, moved to the object's device.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast).
        ValueError: its shape does not start with the batch size.
        RuntimeError: the object is locked.
    """
    if self._lock is not None:
        raise locked(self, name)
    size = self._batch_size
    if not isinstance(value, Tensor) or value.shape[: len(size)] != size or self._device is not None:
        return tensor(self, name, value, size, self._device)
    return value


def number(self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None) -> Tensor:
    """The tensor to store in a field annotated with a number: a number is repeated over the batch."""
    if isinstance(value, (int, float, complex)):
        return torch.full(batch_size, value, device=device)
    return tensor(self, name, value, batch_size, device)


def as_tensor(self: Stored, name: str, value: object, device: torch.device | None) -> Tensor:
    """A tensor as it is; of another value the tensor that a class with a flag of `_CONVERTING` makes of it."""
    if isinstance(value, Tensor):
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
