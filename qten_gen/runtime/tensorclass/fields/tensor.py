"""Tensor fields: the checks and conversions that generated code calls when a value is not simply a Tensor that fits.

Generated constructors and setters test the common case themselves. Operations on tensor fields need nothing from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, cast

import torch
from torch import Size, Tensor

from ....common.naming import storage
from ..core.errors import describe, label
from ..core.locks import refuse_other
from ..core.stored import Stored

NumberKind = Literal["bool", "int", "float", "complex"]
"""The types that say how a number is stored."""

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
        from ..core.tensordict_library import is_unbatched

        advice = (
            "; annotate a field that holds an UnbatchedTensor with Unbatched[Tensor]" if is_unbatched(value) else ""
        )
        raise ValueError(
            f"{type(self).__name__}.{name}: expected a shape that starts with {[*batch_size]}, got {[*shape]}{advice}"
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


def number(
    self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None, kind: NumberKind
) -> Tensor:
    """The tensor to store in a field annotated with a number: a number is repeated over the batch.

    Args:
        value: A tensor as for `tensor`, a number, or a number of NumPy.
        kind: The type that the annotation says, which decides the dtype of a number: a 0 in a `float` field is a float.

    Raises:
        TypeError: a number is of a wider type than the annotation: 0.5 in an `int` field, 2 in a `bool` field.
        ValueError: a number is too large for the dtype.
    """
    if isinstance(value, Tensor):
        return tensor(self, name, value, batch_size, device)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = cast(Any, value).item()
    if not isinstance(value, (int, float, complex)):
        return tensor(self, name, value, batch_size, device)
    try:
        return torch.full(batch_size, _as_kind(self, name, value, kind), device=device)
    except (OverflowError, RuntimeError) as error:
        if "overflow" not in str(error) and not isinstance(error, OverflowError):
            raise  # the device is out of memory, for one
        raise ValueError(f"{label(self, name)}: {describe(value)} does not fit into a tensor: {error}") from error


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
