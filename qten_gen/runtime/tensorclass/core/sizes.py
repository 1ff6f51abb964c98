"""Batch sizes, as callers write them and as objects store them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from reprlib import repr as shortened
from typing import TYPE_CHECKING, SupportsIndex, cast

import torch
from torch import Size, Tensor

if TYPE_CHECKING:
    from .stored import Stored

BatchSize = int | Sequence[int] | None
"""The argument `batch_size` of a constructor: a number is one dimension, None is no dimension."""


def batch_size(value: BatchSize) -> Size:
    """The `torch.Size` for what a caller passes as a batch size.

    >>> batch_size(3), batch_size(None)
    (torch.Size([3]), torch.Size([]))

    Raises:
        TypeError: `value` is neither an integer, a sequence of integers nor None.
    """
    if value is None:
        return Size()
    try:
        size = Size([plain_int(size) for size in value] if isinstance(value, Iterable) else (plain_int(value),))
    except TypeError:
        raise TypeError(f"batch_size: expected int, a sequence of int or None, got {shortened(value)}") from None
    # A symbolic size is not compared: that would be a guard.
    if any(type(length) is int and length < 0 for length in size):
        raise ValueError(f"batch_size: expected sizes that are not negative, got {shortened([*size])}")
    return size


def plain_int(value: object) -> int:
    """A Python integer for one of NumPy, which a saved or pickled batch size could not hold. A symbolic size stays symbolic.

    Raises:
        TypeError: it is not an integer.
    """
    if isinstance(value, int):
        return value
    return cast(int, value) if isinstance(value, torch.SymInt) else index(cast(SupportsIndex, value))


def with_inserted(size: Size, at: int, length: int) -> Size:
    """A batch size with one more dimension."""
    return Size((length, *size)) if at == 0 else Size((*size[:at], length, *size[at:]))


def with_length(size: Size, at: int, length: int) -> Size:
    """A batch size with another length in one dimension."""
    if len(size) == 1:
        return Size((length,))
    return Size((*size[:at], length, *size[at + 1 :]))


def without(size: Size, at: int) -> Size:
    """A batch size without one of its dimensions."""
    if len(size) == 1:
        return Size()
    return size[1:] if at == 0 else Size((*size[:at], *size[at + 1 :]))


def slice_length(index: slice, size: int) -> int:
    """How many positions of a dimension a slice takes. Unlike `slice.indices` it leaves a symbolic size symbolic."""
    start, stop, step = index.start or 0, index.stop, index.step
    if type(start) is not int:
        start = plain_int(start)
    if stop is not None and type(stop) is not int:
        stop = plain_int(stop)
    if step is not None and type(step) is not int:
        step = plain_int(step)
    if start < 0:
        start = max(start + size, 0)
    if stop is None or stop > size:
        stop = size
    elif stop < 0:
        stop += size
    if step is not None and step <= 0:
        raise ValueError(f"the step of a slice has to be positive, got {step}")
    length: int = stop - start if stop > start else 0
    return length if step is None else -(-length // step)


def mask_indices(self: Stored, mask: Tensor, first: int) -> tuple[Tensor, ...]:
    """The positions where a mask over the batch dimensions from `first` on is true: found once, not for every field."""
    covered = self._batch_size[first : first + mask.dim()]
    if mask.shape != covered:
        raise IndexError(
            f"a mask of shape {list(mask.shape)} does not fit the batch size {list(self._batch_size)} "
            f"of {type(self).__name__}"
        )
    return mask.nonzero(as_tuple=True)
