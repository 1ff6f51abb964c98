"""Batch dimensions in another order, turned, repeated, padded. The dimensions of a field beyond the batch stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast, overload

import torch
from torch import Size, Tensor

from ..core import name_changes
from ..core.stored import Stored
from ..core.tensor_shapes import Dim, dimension, integers, listed, whole_number
from ..fields.per_item import items_become
from ..methods.reshaping import expand, flatten, permute, reshape
from .reduced_dimensions import batch_dimensions, of_arguments, with_names

T = TypeVar("T", bound=Stored)


def movedim(self: T, source: Dim | Sequence[Dim], destination: int | Sequence[int]) -> T:
    """Move batch dimensions to other places; the others keep their order.

        batch.movedim(0, -1)

    Raises:
        ValueError: not as many places as dimensions are given, or one twice.
    """
    old, new = _dimensions(self, source), _dimensions(self, destination)
    if len(old) != len({*new}):
        raise ValueError(f"movedim: expected as many places as dimensions, got {source} and {destination}")
    order = [dim for dim in range(len(self._batch_size)) if dim not in old]
    for place, dim in sorted(zip(new, old, strict=True)):
        order.insert(place, dim)
    return permute(self, order)


def _dimensions(self: Stored, dims: Dim | Sequence[Dim]) -> tuple[int, ...]:
    return tuple([dimension(self, dim) for dim in listed(dims)])


@overload
def flip(self: T, *dims: Dim) -> T: ...
@overload
def flip(self: T, dims: Sequence[Dim], /) -> T: ...
def flip(self: T, *dims: Dim | Sequence[Dim]) -> T:
    """The items in the opposite order along batch dimensions."""
    at = _dimensions(self, dims[0] if len(dims) == 1 else cast("tuple[Dim, ...]", dims))
    return with_names(self._rearrange(torch.flip, at, self._batch_size), self._names)


def fliplr(self: T) -> T:
    """`flip` along the second batch dimension."""
    return flip(self, 1)


def flipud(self: T) -> T:
    """`flip` along the first batch dimension."""
    return flip(self, 0)


def roll(self: T, shifts: int | Sequence[int], dims: Dim | Sequence[Dim] | None = None) -> T:
    """The items moved along batch dimensions, around the end; without `dims`, as if the batch were one row.

    batch.roll(1, 0), batch.roll((1, -1), (0, 1))
    """
    if dims is None:
        row = roll(flatten(self), shifts, 0)
        return with_names(reshape(row, self._batch_size), self._names)
    argument = integers((shifts,)), _dimensions(self, dims)
    return with_names(self._rearrange(_roll, argument, self._batch_size), self._names)


_roll = of_arguments(torch.roll)


def rot90(self: T, k: int = 1, dims: Sequence[Dim] = (0, 1)) -> T:
    """The plane of two batch dimensions turned by `k` quarters, from the first towards the second.

    Raises:
        ValueError: `dims` are not two different batch dimensions.
    """
    at = batch_dimensions(self, dims, "rot90")
    if len(at) != 2:
        raise ValueError(f"rot90: expected two batch dimensions, got {list(dims)}")
    order = list(range(len(self._batch_size)))
    if k % 2:
        order[at[0]], order[at[1]] = at[1], at[0]
    out = self._rearrange(_rot90, (k, at), Size([self._batch_size[dim] for dim in order]))
    return with_names(out, name_changes.permuted(self._names, order))


_rot90 = of_arguments(torch.rot90)


@overload
def repeat(self: T, *repeats: int) -> T: ...
@overload
def repeat(self: T, repeats: Sequence[int], /) -> T: ...
def repeat(self: T, *repeats: int | Sequence[int]) -> T:
    """Copies of the batch along every batch dimension; more numbers than dimensions add dimensions in front.

    Raises:
        ValueError: fewer numbers than batch dimensions are given, or a negative one.
    """
    counts = integers(repeats)
    added = len(counts) - len(self._batch_size)
    if added < 0 or any(times < 0 for times in counts):
        raise ValueError(
            f"repeat: expected a number for each of the {len(self._batch_size)} batch dimensions, got {list(counts)}"
        )
    old = (1,) * added + tuple(self._batch_size)
    size = Size([length * times for length, times in zip(old, counts, strict=True)])
    out = self._rearrange(_repeat, (counts, len(self._batch_size)), size)
    return with_names(out, name_changes.inserted(self._names, 0, added))


def _repeat(tensor: Tensor, argument: tuple[tuple[int, ...], int]) -> Tensor:
    repeats, batch_ndim = argument
    return tensor.repeat((*repeats, *(1,) * (tensor.dim() - batch_ndim)))


@overload
def tile(self: T, *dims: int) -> T: ...
@overload
def tile(self: T, dims: Sequence[int], /) -> T: ...
def tile(self: T, *dims: int | Sequence[int]) -> T:
    """`repeat` that takes fewer numbers than batch dimensions: they are for the last ones.

    Raises:
        ValueError: a number is negative.
    """
    counts = integers(dims)
    return repeat(self, (1,) * (len(self._batch_size) - len(counts)) + counts)


def repeat_interleave(self: T, repeats: int | Tensor, dim: Dim | None = None, *, output_size: int | None = None) -> T:
    """Every item repeated in its place along a batch dimension; without `dim`, as if the batch were one row.

        batch.repeat_interleave(2, dim=0), batch.repeat_interleave(torch.tensor([1, 3]), dim=0)

    Args:
        repeats: How often, for all items or for each.
        output_size: The number of items of the result, where it is known: the device is not waited for then.
    """
    if dim is None:
        return repeat_interleave(flatten(self), repeats, 0, output_size=output_size)
    at = dimension(self, dim)
    before, length, after = self._batch_size[:at], self._batch_size[at], self._batch_size[at + 1 :]
    if not isinstance(repeats, Tensor):
        repeats = whole_number(repeats)
        size = Size((*before, length * repeats, *after))
        return with_names(self._rearrange(_repeat_interleave, (repeats, at), size), self._names)
    # The positions are worked out once, not for every field.
    rows = torch.repeat_interleave(repeats.expand(length), output_size=output_size)
    return with_names(self._rearrange(index_select, (at, rows), Size((*before, len(rows), *after))), self._names)


_repeat_interleave = of_arguments(torch.repeat_interleave)


index_select = of_arguments(torch.index_select)
"""`torch.index_select` as primitives call it."""


def pad(self: T, pad_size: Sequence[int], value: float = 0.0) -> T:
    """Items of `value` before and after the batch, for the first batch dimension, then for the second, and so on.

        batch.pad((0, 2))        # two more items behind the last

    A negative number takes items away. `torch.nn.functional.pad` counts from the last dimension instead, and takes no objects.

    Raises:
        ValueError: `pad_size` is not made of pairs, or of more than there are batch dimensions.
        RuntimeError: it takes away more than there is.
    """
    batch_ndim = len(self._batch_size)
    numbers = integers((pad_size,))
    pairs = [(numbers[at], numbers[at + 1]) for at in range(0, len(numbers) - 1, 2)]
    if len(numbers) % 2 or len(pairs) > batch_ndim:
        raise ValueError(
            f"pad: expected a pair of numbers for each of at most {batch_ndim} batch dimensions, got {list(pad_size)}"
        )
    pairs += [(0, 0)] * (batch_ndim - len(pairs))
    size = [before + length + after for (before, after), length in zip(pairs, self._batch_size, strict=True)]
    flat = [number for pair in reversed(pairs) for number in pair]  # torch pads from the last dimension on
    return with_names(self._rearrange(_pad, (flat, batch_ndim, value), Size(size)), self._names)


@items_become("padded")
def _pad(tensor: Tensor, argument: tuple[list[int], int, float]) -> Tensor:
    pairs, batch_ndim, value = argument
    return torch.nn.functional.pad(tensor, [0, 0] * (tensor.dim() - batch_ndim) + pairs, value=value)


def expand_as(self: T, other: Stored | Tensor) -> T:
    """`expand` to the batch size of another object, or to the shape of a tensor."""
    return expand(self, other.shape if isinstance(other, Tensor) else other._batch_size)


def broadcast_to(self: T, size: Sequence[int]) -> T:
    """`expand` under the name of `torch.broadcast_to`."""
    return expand(self, size)


def atleast_1d(self: T) -> T:
    """The object with a batch dimension of size 1 where it has none, as a view."""
    return reshape(self, self._batch_size or 1)


def atleast_2d(self: T) -> T:
    """The object with at least two batch dimensions: new ones in front."""
    batch_ndim = len(self._batch_size)
    return reshape(self, (1,) * (2 - batch_ndim) + tuple(self._batch_size))


def atleast_3d(self: T) -> T:
    """The object with at least three batch dimensions: one new one behind the others, more in front."""
    batch_ndim = len(self._batch_size)
    size = (*(1,) * (2 - batch_ndim), *self._batch_size, *(1,) * (batch_ndim < 3))
    return reshape(self, size)
