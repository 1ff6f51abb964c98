"""Tensor fields: the checks and conversions that generated code calls when a value is not simply a Tensor that fits.

Generated constructors and setters test the common case themselves. Operations on tensor fields need nothing from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Size, Tensor

from ....common.naming import storage
from ..core.error_text import describe, label
from ..core.locks import refuse_other
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


def tensor_property(name: str, read: Callable[[Any], Tensor], doc: str) -> property:
    """The property of a field that holds one tensor. What is set has to fit, and is moved to the object's device."""
    slot = storage(name)

    def write(self: Stored, value: Tensor) -> None:
        if self._lock is not None:
            refuse_other(self, name, value)
        size = self._batch_size
        if not isinstance(value, Tensor) or value.shape[: len(size)] != size or self._device is not None:
            value = tensor(self, name, value, size, self._device)
        setattr(self, slot, value)

    return property(read, write, doc=doc)


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
