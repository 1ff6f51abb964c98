"""What generated code calls for fields that hold a dict or a list of tensors, and for Unbatched ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar, cast

import torch
from torch import Size, Tensor
from torch._subclasses.fake_tensor import FakeTensor

from ..core.error_text import describe, difference, label
from ..core.stored import Stored
from .tensor import Join, all_or_none, as_tensor, on_device, tensor

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
    """True if two tensors are alike in all that can be seen, NaN included; without the values of meta and fake tensors."""
    if left.shape != right.shape or left.dtype != right.dtype or left.device != right.device:
        return False
    if left.is_meta or isinstance(left, FakeTensor):
        return True
    return torch.equal(left, right) or torch.allclose(left, right, rtol=0, atol=0, equal_nan=True)


A = TypeVar("A")
Several = dict[str, Tensor] | list[Tensor]
P = TypeVar("P", bound="dict[str, Tensor] | list[Tensor] | None")
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


def zip_tensors(self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: P, right: P) -> P:
    """Apply `fn` to the tensors of two objects, key by key; None in both or in neither."""
    present = _alike(self, name, [left, right])
    return left if present is None else _made(left, (fn(a, b) for a, b in _columns(present)))


def join_tensors(self: Stored, name: str, fn: Join, values: Sequence[P]) -> P:
    """Join the tensors of several objects, key by key; None in all objects or in none."""
    present = _alike(self, name, values)
    return values[0] if present is None else _made(values[0], (fn([*column]) for column in _columns(present)))


def part_tensors(
    fn: Callable[[Tensor, A], Sequence[Tensor]], value: P, argument: A, batch_sizes: Sequence[Size]
) -> Sequence[P]:
    """The pieces of every tensor; None for each where the field is None."""
    if value is None:
        return [value] * len(batch_sizes)
    pieces = [fn(tensor, argument) for tensor in _tensors(value)]
    return [_made(value, (column[i] for column in pieces)) for i in range(len(batch_sizes))]


def put_tensors(self: Stored, name: str, target: P, index: object, value: P) -> None:
    """Write items of every tensor; None in both objects or in neither."""
    present = _alike(self, name, [target, value])
    for written, items in _columns(present or []):
        written[index] = items  # type: ignore[index] # `index` was made by the runtime


def match_tensors(self: Stored, name: str, left: P, right: P) -> None:
    """Refuse two objects whose keys, or whose numbers of tensors, differ.

    Raises:
        TypeError: one of them is None.
        ValueError: they differ.
    """
    _alike(self, name, [left, right])


def same_tensors(self: Stored, name: str, values: Sequence[P]) -> P:
    """The one dict or list that an Unbatched field has in all of `values`: the same object, or equal tensors.

    Raises:
        ValueError: keys or tensors differ.
    """
    first = values[0]
    if all(value is first for value in values):
        return first
    present = _alike(self, name, values)
    for key, column in zip(_keys(present[0]), _columns(present), strict=True) if present else ():
        same_tensor(self, f"{name}[{key!r}]", column)
    return first


def _alike(self: Stored, name: str, values: Sequence[Several | None]) -> list[Several] | None:
    """The values, with keys in the order of the first, or None where all are None.

    Raises:
        TypeError: some of them are None.
        ValueError: keys or lengths differ.
    """
    present: list[Several] | None = all_or_none(self, name, values)
    if present is None:
        return None
    keys = _keys(present[0])
    for value in present:
        if {*_keys(value)} != {*keys}:
            what = "keys" if isinstance(value, dict) else "number of tensors"
            got = difference(*([*each] if isinstance(each, dict) else len(each) for each in (present[0], value)))
            raise ValueError(f"{label(self, name)}: expected the same {what} in every object, got {got}")
    return [{str(key): value[str(key)] for key in keys} if isinstance(value, dict) else value for value in present]


def _columns(values: Sequence[Several]) -> Iterator[tuple[Tensor, ...]]:
    """The tensors of several objects, key by key."""
    return zip(*map(_tensors, values), strict=True)


def _keys(value: Several) -> Sequence[str | int]:
    return [*value] if isinstance(value, dict) else range(len(value))


def _tensors(value: Several) -> list[Tensor]:
    return [*value.values()] if isinstance(value, dict) else value


def _made(like: P, tensors: Iterator[Tensor]) -> P:
    """A dict with the keys of `like`, or a list, of these tensors."""
    return cast(P, dict(zip(like, tensors, strict=True)) if isinstance(like, dict) else [*tensors])
