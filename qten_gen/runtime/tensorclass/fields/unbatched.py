"""Unbatched fields: tensors that the batch does not carry, and that are therefore the same in all objects that are combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from ..core.error_text import describe, label
from ..core.stored import Stored
from .tensor import as_tensor, on_device

W = TypeVar("W", bound=Tensor | None)


def unbatched(self: Stored, name: str, value: object, device: torch.device | None) -> Tensor:
    """The tensor to store in an Unbatched field, of any shape, moved to the object's device.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast).
    """
    return on_device(as_tensor(self, name, value, device), device)


def same_tensor(self: Stored, name: str, values: Sequence[W]) -> W:
    """The one tensor that an Unbatched field has in all of `values`: the same object, or an equal one.

    Raises:
        ValueError: two tensors differ; both are described.
    """
    first = values[0]
    for value in values:
        if value is not first and not (first is not None and value is not None and _equal_tensors(first, value)):
            raise ValueError(
                f"{label(self, name)} is the same for a whole batch, but differs between the objects: "
                f"{_difference(first, value)}"
            )
    return first


def _difference(first: Tensor | None, other: Tensor | None) -> str:
    """The difference between two tensors, for a message: where dtype and shape are equal, any other."""
    one, two = describe(first), describe(other)
    if first is None or other is None or one != two:
        return f"{one} and {two}"
    if first.device != other.device:
        return f"{one}, on {first.device} and {other.device}"
    return f"{one}, with different values"


def _equal_tensors(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are alike in all that can be seen, NaN included; without the values of meta and fake tensors."""
    if left.shape != right.shape or left.dtype != right.dtype or left.device != right.device:
        return False
    if left.is_meta or isinstance(left, FakeTensor):
        return True
    return torch.equal(left, right) or torch.allclose(left, right, rtol=0, atol=0, equal_nan=True)
