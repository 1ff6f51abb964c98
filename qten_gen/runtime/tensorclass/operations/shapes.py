"""Operations that change the batch dimensions, put objects together, take them apart or select items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar, cast, overload

import torch
from torch import Size, Tensor

from ..core import dimension_names
from ..core.error_text import describe
from ..core.sizes import Dim, dimension, integers, listed, whole_number
from ..core.stored import Stored
from ..fields.per_item import items_become
from ..methods import joining, reshaping
from ..methods.operands import Function
from ..methods.reshaping import flatten, of_arguments, permute, reshape, with_names
from . import selecting
from .entries import Effect, Group, Operation, written_out
from .new_objects import CREATING

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
    return with_names(out, dimension_names.inserted(self._names, 0, added))


def _repeat(tensor: Tensor, argument: tuple[tuple[int, ...], int]) -> Tensor:
    repeats, batch_ndim = argument
    return tensor.repeat((*repeats, *(1,) * (tensor.dim() - batch_ndim)))


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


_shape = partial(written_out, batch=Effect.REARRANGES)
"""An entry for a method that is written elsewhere, with its own documentation."""


def _spread(method: Function, keyword: str) -> Function:
    """The method for torch, which knows what the method takes one by one under the name `keyword`."""

    def handler(input: Any, *values: Any, **options: Any) -> Any:
        return method(input, *values, *([options[keyword]] if keyword in options else []))

    return handler


def _stack(tensors: Sequence[T], dim: int = 0) -> T:
    try:
        return joining.stack(tensors, dim)
    except AttributeError:  # asked after the failure: the usual call has nothing else among its objects
        _refuse_others("stack", tensors)
        raise


def _cat(tensors: Sequence[T], dim: int = 0) -> T:
    try:
        return joining.cat(tensors, dim)
    except AttributeError:
        _refuse_others("cat", tensors)
        raise


def _refuse_others(name: str, items: Sequence[object]) -> None:
    """Raise the error of something else among the objects to be put together; called after that has failed.

    Raises:
        TypeError: there is a tensor, say.
    """
    for item in items:
        if not isinstance(item, Stored):
            raise TypeError(f"{name}: expected objects of one class, got {describe(item)} among them")


def _split(tensor: T, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[T, ...]:
    return joining.split(tensor, split_size_or_sections, dim)


SHAPES = (
    _shape(reshaping.reshape, torch.reshape, handler=_spread(reshaping.reshape, "shape")),
    _shape(reshaping.view),
    _shape(reshaping.flatten, torch.flatten, torch.ravel),
    _shape(reshaping.unflatten, torch.unflatten),
    _shape(reshaping.permute, torch.permute, handler=_spread(reshaping.permute, "dims")),
    _shape(reshaping.transpose, torch.transpose, torch.swapaxes, torch.swapdims),
    _shape(movedim, torch.movedim, torch.moveaxis),
    _shape(reshaping.squeeze, torch.squeeze),
    _shape(reshaping.unsqueeze, torch.unsqueeze),
    _shape(reshaping.expand, torch.broadcast_to, handler=_spread(reshaping.expand, "size")),
    _shape(repeat),
    _shape(repeat_interleave, torch.repeat_interleave),
    _shape(roll, torch.roll, batch=Effect.KEEPS),
    _shape(flip, torch.flip, handler=_spread(flip, "dims"), batch=Effect.KEEPS),
    _shape(pad),
)

TOGETHER = (
    Operation(
        "stack",
        "Objects along a new batch dimension.",
        joining.stack_of_class,
        (torch.stack,),
        _stack,
        batch=Effect.REARRANGES,
        on_class=True,
    ),
    Operation(
        "cat",
        "Objects one after the other along a batch dimension.",
        joining.cat_of_class,
        (torch.cat, torch.concat, torch.concatenate),
        _cat,
        batch=Effect.REARRANGES,
        on_class=True,
    ),
    _shape(
        joining.split,
        torch.split,
        torch.split_with_sizes,
        torch.unsafe_split,
        torch.unsafe_split_with_sizes,
        handler=_split,
    ),
    _shape(joining.chunk, torch.chunk, torch.unsafe_chunk),
    _shape(joining.unbind, torch.unbind),
)

SELECTING = (
    _shape(selecting.gather, torch.gather),
    Operation(
        "masked_fill",
        "Another value where the mask is true.",
        selecting.masked_fill,
        (torch.masked_fill,),
    ),
    written_out(selecting.masked_fill_),
    Operation(
        "where",
        "The object where the condition is true, another operand elsewhere.",
        selecting.where,
        (torch.where,),
        selecting.where_function,
    ),
)

SHAPE_GROUP = Group(
    "Batch shape",
    "Dimensions are batch dimensions. The dimensions that a field has beyond the batch size stay as they are.",
    SHAPES,
)

TOGETHER_GROUP = Group(
    "Put together and taken apart",
    "Objects that are put together have the same class and equal static fields. `Batch.stack` and `Batch.cat` are "
    "typed. `torch.stack` and `torch.cat` do the same.",
    TOGETHER,
)

SELECTING_GROUP = Group(
    "Some of the items",
    "Indexing selects items too: `batch[0]`, `batch[mask]`, `batch[mask] = 0`. A mask or condition broadcasts "
    "over the batch size, or is an object with bool tensors, such as the result of a comparison.",
    SELECTING,
)

CREATING_GROUP = Group(
    "New objects like another",
    "The result has the class and the static fields of the given object. `Batch.zeros_like(batch)` is typed. "
    "`torch.zeros_like(batch)` does the same.",
    CREATING,
)
