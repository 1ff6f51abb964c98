"""Changing the batch dimensions. The dimensions that a field has beyond them stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import getitem
from typing import Any, TypeVar, cast, overload

import torch
from torch import Size, Tensor

from ..core import dimension_names
from ..core.error_text import abridged
from ..core.sizes import (
    BatchShape,
    Dim,
    dimension,
    integers,
    is_single,
    listed,
    reshape_tensor,
    view_tensor,
    whole_number,
    with_free_event,
    with_inserted,
    without,
)
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)


@overload
def reshape(self: T, *shape: int) -> T: ...
@overload
def reshape(self: T, shape: Sequence[int], /) -> T: ...
def reshape(self: T, *shape: int | Sequence[int]) -> T:
    """The same items in another batch shape; one size may be -1.

    A tensor of shape `[*batch, *event]` becomes one of shape `[*shape, *event]`: a view where its layout allows that, else a
    copy.

        batch.reshape(2, -1)

    Raises:
        ValueError: the shape has another number of items.
    """
    return _reshaped(self, reshape_tensor, shape)


@overload
def view(self: T, *shape: int) -> T: ...
@overload
def view(self: T, shape: Sequence[int], /) -> T: ...
def view(self: T, *shape: int | Sequence[int]) -> T:
    """`reshape` that never copies.

    Raises:
        ValueError: the shape has another number of items.
        RuntimeError: a tensor's memory layout does not allow it.
    """
    return _reshaped(self, view_tensor, shape)


def flatten(self: T, start_dim: Dim = 0, end_dim: Dim = -1) -> T:
    """Join the batch dimensions from `start_dim` to `end_dim` into one; without batch dimensions, add one of size 1.

    The dimensions that a field has beyond the batch size stay as they are.

    Raises:
        ValueError: `start_dim` comes after `end_dim`.
    """
    size = self._batch_size
    if not size:
        return reshape(self, 1)
    start, end = dimension(self, start_dim), dimension(self, end_dim)
    if end < start:
        raise ValueError(f"flatten: start_dim {start_dim!r} comes after end_dim {end_dim!r}")
    out = reshape(self, (*size[:start], prod(size[start : end + 1]), *size[end + 1 :]))
    out._names = dimension_names.replaced(self._names, start, end - start + 1, 1)
    return out


def unflatten(self: T, dim: Dim, sizes: Sequence[int]) -> T:
    """Divide one batch dimension into several; one size may be -1.

    Raises:
        ValueError: the product of the sizes is not the size of the dimension.
    """
    at = dimension(self, dim)
    parts = _resolved(self, tuple(sizes), Size((self._batch_size[at],)))
    out = reshape(self, (*self._batch_size[:at], *parts, *self._batch_size[at + 1 :]))
    out._names = dimension_names.replaced(self._names, at, 1, len(parts))
    return out


@overload
def permute(self: T, *dims: Dim) -> T: ...
@overload
def permute(self: T, dims: Sequence[Dim], /) -> T: ...
def permute(self: T, *dims: Dim | Sequence[Dim]) -> T:
    """Put the batch dimensions in another order.

    Raises:
        ValueError: `dims` does not name every batch dimension once.
    """
    wanted = listed(dims[0]) if len(dims) == 1 else cast("tuple[Dim, ...]", dims)
    size = self._batch_size
    batch_ndim = len(size)
    order = [dim if type(dim) is int and 0 <= dim < batch_ndim else dimension(self, dim) for dim in wanted]
    if len(order) != batch_ndim or len({*order}) != batch_ndim:
        raise ValueError(
            f"permute: expected each of the {batch_ndim} batch dimensions of {type(self).__name__} once, got {list(wanted)}"
        )
    out = self._rearrange(_permute, tuple(order), Size([size[dim] for dim in order]))
    if self._names is not None:
        out._names = dimension_names.permuted(self._names, order)
    return out


def transpose(self: T, dim0: Dim, dim1: Dim) -> T:
    """Exchange two batch dimensions."""
    first, second = dimension(self, dim0), dimension(self, dim1)
    order = list(range(len(self._batch_size)))
    order[first], order[second] = order[second], order[first]
    return permute(self, order)


def unsqueeze(self: T, dim: int) -> T:
    """Insert a batch dimension of size 1; -1 is behind the last one.

    A tensor of shape `[*batch, *event]` becomes a view of shape `[1, *batch, *event]` for `dim=0`.

    Raises:
        IndexError: `dim` is out of range.
    """
    batch_ndim = len(self._batch_size)
    if type(dim) is not int:
        dim = whole_number(dim)
    if not -batch_ndim - 1 <= dim <= batch_ndim:
        raise IndexError(f"unsqueeze: dimension {dim} is out of range for {batch_ndim} batch dimensions")
    at = dim if dim >= 0 else dim + batch_ndim + 1
    size = with_inserted(self._batch_size, at, 1)
    out = self._rearrange(_with_first, None, size) if at == 0 else self._rearrange(torch.unsqueeze, at, size)
    if self._names is not None:
        out._names = dimension_names.inserted(self._names, at)
    return out


_with_first: Callable[[Tensor, None], Tensor] = getitem
"""`unsqueeze(0)`: the index None is the same to torch, which need not read a number then, and takes a fifth less time."""


def squeeze(self: T, dim: Dim | Sequence[Dim] | None = None) -> T:
    """Drop batch dimensions of size 1: one, several or all of them. A dimension of another size stays."""
    size = self._batch_size
    if dim is not None and is_single(dim):
        at = dimension(self, dim)
        gone = size[at] == 1
        out = self._rearrange(torch.squeeze, at, without(size, at) if gone else size)
        if self._names is not None:
            out._names = dimension_names.without(self._names, [at]) if gone else self._names
        return out
    wanted = range(len(size)) if dim is None else [dimension(self, one) for one in listed(dim)]
    dims = tuple([at for at, length in enumerate(size) if length == 1 and at in wanted])
    out = self._rearrange(torch.squeeze, dims, Size([length for at, length in enumerate(size) if at not in dims]))
    if self._names is not None:
        out._names = dimension_names.without(self._names, dims)
    return out


@overload
def expand(self: T, *shape: int) -> T: ...
@overload
def expand(self: T, shape: Sequence[int], /) -> T: ...
def expand(self: T, *shape: int | Sequence[int]) -> T:
    """Repeat batch dimensions of size 1, and add some in front, without copying; -1 keeps a size.

    A tensor of shape `[*batch, *event]` becomes a view of shape `[*shape, *event]`.

    Raises:
        ValueError: the batch size does not broadcast to `shape`.
    """
    given = integers(shape)
    added = len(given) - len(self._batch_size)
    old = (1,) * added + tuple(self._batch_size)
    new = tuple(before if after == -1 else after for before, after in zip(old, given, strict=False))
    if added < 0 or any(before != 1 and before != after for before, after in zip(old, new, strict=True)):
        raise ValueError(f"expand: the batch size {list(self._batch_size)} does not broadcast to {list(given)}")
    size = Size(new)
    out = self._rearrange(_expand, (size, len(self._batch_size)), size)
    if self._names is not None:
        out._names = dimension_names.inserted(self._names, 0, added)
    return out


def _resolved(self: Stored, shape: tuple[int, ...], old: Size) -> Size:
    """The shape with a size in place of -1, which has to hold the same number of items as `old`."""
    items = prod(old)
    if prod(shape) == items and (not shape or min(shape) >= 0):
        return Size(shape)
    known = prod([size for size in shape if size != -1])  # a list: dynamo does not trace a generator here
    free = shape.count(-1)
    if free != 1 or known <= 0 or items % known:
        raise ValueError(f"{type(self).__name__} of batch size {list(old)} cannot be reshaped to {abridged([*shape])}")
    return Size([items // known if size == -1 else size for size in shape])


def _reshaped(self: T, fn: _WithShape, shape: tuple[int | Sequence[int], ...]) -> T:
    size = _resolved(self, integers(shape), self._batch_size)
    return self._rearrange(fn, (size, len(self._batch_size), with_free_event(size)), size)


def _expand(tensor: Tensor, argument: tuple[Size, int]) -> Tensor:
    size, batch_ndim = argument
    return tensor.expand((*size, *tensor.shape[batch_ndim:]))


def _permute(tensor: Tensor, order: tuple[int, ...]) -> Tensor:
    return torch.permute(tensor, (*order, *range(len(order), tensor.dim())))


_WithShape = Callable[[Tensor, BatchShape], Tensor]


def batch_dimensions(self: Stored, dims: Dim | Sequence[Dim], name: str) -> tuple[int, ...]:
    """Batch dimensions counted from the front, each once.

    Raises:
        IndexError: there is no such batch dimension.
        ValueError: there are none, or one is given twice.
    """
    if type(dims) is int:
        return (dimension(self, dims),)
    wanted = listed(dims)
    found = tuple([dimension(self, dim) for dim in wanted])
    if not found or len(set(found)) < len(found):
        raise ValueError(f"{type(self).__name__}.{name}: expected different batch dimensions, got {list(wanted)}")
    return found


def with_names(out: T, names: dimension_names.Names | None) -> T:
    """A new object with names for its batch dimensions."""
    out._names = names
    return out


def of_arguments(function: Callable[..., Tensor]) -> Callable[[Tensor, tuple[Any, ...]], Tensor]:
    """A function of a tensor and further arguments as primitives call it, with these as one."""

    def applied(tensor: Tensor, argument: tuple[Any, ...]) -> Tensor:
        return function(tensor, *argument)

    return applied
