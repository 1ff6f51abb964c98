"""What generated code calls for fields that hold a dict or a list of tensors, and for Unbatched ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import torch
from torch import Size, Tensor
from torch._subclasses.fake_tensor import FakeTensor

from ..core.error_text import describe, difference, label
from ..core.stored import Stored
from .tensor import as_tensor, on_device, tensor


def unbatched(self: Stored, name: str, value: object, device: torch.device | None) -> Tensor:
    """The tensor to store in an Unbatched field, of any shape, moved to the object's device.

    Raises:
        TypeError: `value` is not a tensor (and the class does not cast).
    """
    return on_device(as_tensor(self, name, value, device), device)


def same_tensor(self: Stored, name: str, values: Sequence[Tensor]) -> Tensor:
    """The one tensor that an Unbatched field has in all of `values`: the same object, or an equal one.

    Raises:
        ValueError: two tensors differ; both are described.
    """
    first = values[0]
    for value in values:
        if value is not first and not _equal_tensors(first, value):
            raise ValueError(
                f"{label(self, name)} is the same for a whole batch, but differs between the objects: "
                f"{_difference(first, value)}"
            )
    return first


def _difference(first: Tensor, other: Tensor) -> str:
    """The difference between two tensors, for a message: where dtype and shape are equal, any other."""
    one, two = describe(first), describe(other)
    if one != two:
        return f"{one} and {two}"
    if first.device != other.device:
        return f"{one}, on {first.device} and {other.device}"
    return f"{one}, with different values"


def _equal_tensors(left: Tensor, right: Tensor) -> bool:
    """True if two tensors are alike in all that can be seen, NaN included; without the values of meta and fake tensors."""
    if left.shape != right.shape or left.dtype != right.dtype or left.device != right.device:
        return False
    if left.is_meta or isinstance(left, FakeTensor):
        return True
    return torch.equal(left, right) or torch.allclose(left, right, rtol=0, atol=0, equal_nan=True)


A = TypeVar("A")
Several = dict[str, Tensor] | list[Tensor]
P = TypeVar("P", bound="dict[str, Tensor] | list[Tensor]")
"""What a field holds. Of two overloads, pyright would take the wrong one among the arguments of `zip`."""


def tensor_dict(
    self: Stored, name: str, value: object, batch_size: Size | None, device: torch.device | None
) -> dict[str, Tensor]:
    """The dict to store in a field, a new one, with its tensors moved to the object's device.

    Args:
        batch_size: What the shape of each tensor starts with; None for tensors that the batch does not carry.

    Raises:
        TypeError: `value` is not a mapping from names to tensors.
        ValueError: the shape of a tensor does not start with the batch size.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"{label(self, name)}: expected a dict of Tensors, got {describe(value)}")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"{label(self, name)}: expected names as keys, got {describe(key)}")
    return {key: _tensor(self, f"{name}[{key!r}]", item, batch_size, device) for key, item in value.items()}


def tensor_list(
    self: Stored, name: str, value: object, batch_size: Size | None, device: torch.device | None
) -> list[Tensor]:
    """The list to store in a field, a new one, with its tensors moved to the object's device; see `tensor_dict`."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{label(self, name)}: expected a list of Tensors, got {describe(value)}")
    return [_tensor(self, f"{name}[{i}]", item, batch_size, device) for i, item in enumerate(value)]


def _tensor(self: Stored, name: str, value: object, batch_size: Size | None, device: torch.device | None) -> Tensor:
    if batch_size is None:
        return unbatched(self, name, value, device)
    return tensor(self, name, value, batch_size, device)


def columns(self: Stored, name: str, *values: Several) -> list[tuple[Tensor, ...]]:
    """The tensors of a field in several objects side by side, with keys in the order of the first.

    Raises:
        ValueError: the keys, or the numbers of tensors, differ.
    """
    first = values[0]
    for value in values[1:]:
        if {*_keys(value)} != {*_keys(first)}:
            what = "keys" if isinstance(value, dict) else "number of tensors"
            got = difference(*([*each] if isinstance(each, dict) else len(each) for each in (first, value)))
            raise ValueError(f"{label(self, name)}: expected the same {what} in every object, got {got}")
    in_order = [[value[str(key)] for key in first] if isinstance(value, dict) else value for value in values]
    return [*zip(*in_order, strict=True)]


def part_tensors(
    fn: Callable[[Tensor, A], Sequence[Tensor]], value: P, argument: A, batch_sizes: Sequence[Size]
) -> Sequence[P]:
    """The pieces of every tensor."""
    if isinstance(value, list):
        pieces = [fn(tensor, argument) for tensor in value]
        return cast("Sequence[P]", [[each[at] for each in pieces] for at in range(len(batch_sizes))])
    by_key = {key: fn(tensor, argument) for key, tensor in value.items()}
    return cast("Sequence[P]", [{key: each[at] for key, each in by_key.items()} for at in range(len(batch_sizes))])


def same_tensors(self: Stored, name: str, values: Sequence[P]) -> P:
    """The one dict or list that an Unbatched field has in all of `values`: the same object, or equal tensors.

    Raises:
        ValueError: keys or tensors differ.
    """
    first = values[0]
    if any(value is not first for value in values):
        for key, column in zip(_keys(first), columns(self, name, *values), strict=True):
            same_tensor(self, f"{name}[{key!r}]", column)
    return first


def _keys(value: Several) -> Sequence[str | int]:
    return [*value] if isinstance(value, dict) else range(len(value))
