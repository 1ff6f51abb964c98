"""Parts of tensors, and which of their elements lie in a range of memory.

A tensor that is made block by block in flattened order is a range of memory after the other; the part that a process keeps is a
strided view of all of it. `pieces` says where the two meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

Part = tuple[tuple[int, int], ...]
"""For each dimension of a tensor the first index of the part, and the one after its last."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a view lies in a storage, counted in elements."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0

    @property
    def numel(self) -> int:
        return prod(self.size)

    @property
    def end(self) -> int:
        """The element of the storage after the last one of the view."""
        if self.numel == 0:
            return self.offset
        return self.offset + 1 + sum((size - 1) * stride for size, stride in zip(self.size, self.stride, strict=True))

    @property
    def is_run(self) -> bool:
        """Whether the view is one run of memory, in the order of its elements."""
        expected = 1
        for size, stride in zip(reversed(self.size), reversed(self.stride), strict=True):
            if size != 1 and stride != expected:
                return self.numel == 0
            expected *= size
        return True


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a view: its first index, its size, and the element of the storage where it starts."""

    index: tuple[int, ...]
    size: tuple[int, ...]
    offset: int


def layout_of(tensor: Tensor) -> Layout:
    """The layout of a tensor that has strides."""
    return Layout(tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))


def contiguous(size: Sequence[int]) -> Layout:
    """The layout of a new tensor."""
    strides, stride = [], 1
    for extent in reversed(size):
        strides.append(stride)
        stride *= max(extent, 1)
    return Layout(tuple(size), tuple(reversed(strides)))


def whole(size: Sequence[int]) -> Part:
    """The part that is the whole tensor."""
    return tuple((0, extent) for extent in size)


def size_of(part: Part) -> tuple[int, ...]:
    """The size of a part."""
    return tuple(stop - start for start, stop in part)


def slices(part: Part) -> tuple[slice, ...]:
    """The index that takes the part of a tensor."""
    return tuple(slice(start, stop) for start, stop in part)


def layout_of_part(of: Layout, part: Part) -> Layout:
    """The layout of a part of a view."""
    first = sum(start * stride for (start, _), stride in zip(part, of.stride, strict=True))
    return Layout(size_of(part), of.stride, of.offset + first)


def pieces(view: Layout, low: int, high: int) -> Iterator[Piece]:
    """The elements of a view that lie in the elements `low` to `high` of its storage, as few pieces as its shape allows.

    The dimensions of the view must be in descending order of their strides and must not overlap.
    """
    if view.numel:
        yield from _pieces(view, low, high, ())


def _pieces(view: Layout, low: int, high: int, index: tuple[int, ...]) -> Iterator[Piece]:
    """The pieces of a view whose leading dimensions have one element each, at `index`."""
    if view.offset >= high or view.end <= low:
        return
    if low <= view.offset and view.end <= high:
        rest = len(view.size) - len(index)
        yield Piece(index + (0,) * rest, view.size, view.offset)
        return
    at = len(index)
    stride = view.stride[at]
    inner = Layout((1,) * (at + 1) + view.size[at + 1 :], view.stride, view.offset)
    extent = inner.end - inner.offset
    if view.size[at] == 1:
        yield from _pieces(inner, low, high, (*index, 0))
        return
    first = max(0, -(-(low - view.offset) // stride))
    last = min(view.size[at], (high - view.offset - extent) // stride + 1)
    if first and view.offset + (first - 1) * stride + extent > low:
        yield from _at(inner, first - 1, low, high, index)
    if last > first:
        offset = view.offset + first * stride
        rest = len(view.size) - at - 1
        yield Piece((*index, first, *(0,) * rest), (*view.size[:at], last - first, *view.size[at + 1 :]), offset)
    after = max(first, last)
    if after < view.size[at] and view.offset + after * stride < high:
        yield from _at(inner, after, low, high, index)


def _at(inner: Layout, position: int, low: int, high: int, index: tuple[int, ...]) -> Iterator[Piece]:
    offset = inner.offset + position * inner.stride[len(index)]
    yield from _pieces(Layout(inner.size, inner.stride, offset), low, high, (*index, position))


def merged(source: Layout, target: Layout) -> tuple[Layout, Layout]:
    """Two views of one size with their dimensions merged where both have the elements of two dimensions in one row."""
    size: list[int] = []
    strides: list[tuple[int, int]] = []
    for extent, *stride in zip(source.size, source.stride, target.stride, strict=True):
        if extent == 1:
            continue
        if size and all(outer == inner * extent for outer, inner in zip(strides[-1], stride, strict=True)):
            size[-1] *= extent
            strides[-1] = (stride[0], stride[1])
        else:
            size.append(extent)
            strides.append((stride[0], stride[1]))
    ours, theirs = (tuple(pair[i] for pair in strides) for i in (0, 1))
    return Layout(tuple(size), ours, source.offset), Layout(tuple(size), theirs, target.offset)


def copy_pieces(buffer: Tensor, low: int, source: Layout, target: Tensor, into: Layout) -> None:
    """Copy the elements of the view `source` that `buffer` holds, the storage from `low` on, to their places in `target`.

    Args:
        buffer: One dimension, contiguous.
        low: The element of the storage that the buffer starts with.
        source: A view of the storage.
        target: A tensor whose own storage offset is that of `into`.
        into: The layout of `target`, of the size of `source`.
    """
    for piece in pieces(source, low, low + buffer.numel()):
        offset = into.offset + sum(at * stride for at, stride in zip(piece.index, into.stride, strict=True))
        torch.as_strided(target, piece.size, into.stride, offset).copy_(
            torch.as_strided(buffer, piece.size, source.stride, piece.offset - low + int(buffer.storage_offset()))
        )
