"""Sizes, dimensions and indices: what callers say, and what it means for the tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from reprlib import repr as shortened
from types import EllipsisType
from typing import SupportsIndex, TypeGuard, cast

import torch
from torch import Size, Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.compiler import is_compiling

from . import dimension_names
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
    if isinstance(value, torch.SymInt):
        return cast(int, value)
    if not hasattr(value, "__index__"):
        raise TypeError(f"expected an integer, got {shortened(value)}")
    return index(cast(SupportsIndex, value))


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
    refuse_unknown_mask(type(self).__name__, mask)
    return mask.nonzero(as_tuple=True)


def refuse_unknown_mask(where: str, mask: Tensor) -> None:
    """Refuse a mask whose values nobody can read."""
    if is_unknown(mask):
        why = "does not say how many it selects; select by positions"
        raise TypeError(f"{where}: a mask on the meta device or of fake tensors {why}")


def is_unknown(values: Tensor) -> bool:
    """True for numbers that nobody can read: of meta tensors, and of fake ones without symbols."""
    if is_compiling() or not isinstance(values, FakeTensor):
        return values.is_meta and not is_compiling()
    symbols = values.fake_mode.shape_env
    return symbols is None or not symbols.allow_dynamic_output_shape_ops


Dim = int | str
"""A batch dimension: its place, from the end where negative, or its name."""

BatchShape = tuple[Size, int, tuple[int, ...] | None]
"""How tensors are reshaped: the new batch size, the present number of batch dimensions, and `with_free_event`."""


def dimension(self: Stored, dim: Dim) -> int:
    """A batch dimension counted from the front.

    Raises:
        IndexError: there is no such batch dimension.
        ValueError: no batch dimension has that name.
        TypeError: it is neither an integer nor a name; a bool, which stands for an option of torch, is not one.
    """
    if type(dim) is not int:
        if isinstance(dim, str):
            return dimension_names.position(self, dim)
        dim = whole_number(dim)
    ndim = len(self._batch_size)
    if not -ndim <= dim < ndim:
        advice = "" if ndim else "; batch_size= says how many leading dimensions of the tensors are batch dimensions"
        raise IndexError(
            f"dimension {dim} is out of range: {type(self).__name__} has {ndim} batch dimension{'' if ndim == 1 else 's'}"
            f"{advice}"
        )
    return dim % ndim


def whole_number(value: SupportsIndex | str) -> int:
    """A Python integer for a size or dimension that may be one of NumPy; a symbolic one stays symbolic.

    Raises:
        TypeError: it is not an integer. A bool is not one: torch has options in the places of dimensions.
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, torch.SymInt, SupportsIndex)):
        raise TypeError(f"expected an integer or the name of a batch dimension, got {value!r}")
    return plain_int(value)


def is_single(value: object) -> TypeGuard[Dim]:
    """True if this is one dimension or number, Python's, NumPy's or symbolic, and not a sequence of several."""
    return isinstance(value, (int, str, torch.SymInt)) or not isinstance(value, Iterable)


def listed(dims: Dim | Sequence[Dim]) -> tuple[Dim, ...]:
    """One dimension or several, as several."""
    return (dims,) if is_single(dims) else tuple(cast("Sequence[Dim]", dims))


def integers(given: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    """Integers that came one by one or as one sequence."""
    found: Sequence[int | Sequence[int]] = given
    if len(given) == 1 and not isinstance(first := given[0], int) and isinstance(first, Iterable):
        found = first
    return tuple([size if type(size) is int else plain_int(size) for size in found])


def common_leading(sizes: Sequence[Size]) -> Size:
    """The leading dimensions that all sizes share.

    >>> common_leading([Size((4, 3, 2)), Size((4, 3)), Size((4, 3, 5))])
    torch.Size([4, 3])
    """
    first, shortest = sizes[0], min(len(size) for size in sizes)
    shared = next((at for at in range(shortest) if any(size[at] != first[at] for size in sizes)), shortest)
    return first[:shared]


def over_batch(value: Tensor, batch_size: Size, event_ndim: int) -> Tensor:
    """`value`, which broadcasts over the batch size, shaped to broadcast over a tensor with `event_ndim` dimensions more.

    Raises:
        ValueError: it does not broadcast over the batch size.
    """
    if value.dim() == 0:
        return value
    pairs = zip(reversed(value.shape), reversed(batch_size), strict=False)
    if value.dim() > len(batch_size) or any(size != 1 and size != whole for size, whole in pairs):
        raise ValueError(
            f"a Tensor broadcasts over the batch size {list(batch_size)} only, got shape {list(value.shape)}; "
            "for other shapes use .apply"
        )
    return with_event(value, event_ndim)


def with_event(value: Tensor, event_ndim: int) -> Tensor:
    """`value` with dimensions of size 1 behind its own, to broadcast over a tensor that has them."""
    return value.reshape(*value.shape, *(1,) * event_ndim) if value.dim() else value


def with_free_event(size: Size) -> tuple[int, ...] | None:
    """`size` and a -1 for an event dimension: most fields have one, and then their shapes need not be read.

    None where torch cannot find the size in its place: without items, or with symbolic sizes.
    """
    return None if 0 in size or is_compiling() else (*size, -1)


def reshape_tensor(tensor: Tensor, argument: BatchShape) -> Tensor:
    """`reshape` of the batch dimensions of one tensor."""
    size, batch_ndim, free_event = argument
    if free_event is not None and tensor.dim() == batch_ndim + 1:
        return torch.reshape(tensor, free_event)
    return torch.reshape(tensor, (*size, *tensor.shape[batch_ndim:]))


def view_tensor(tensor: Tensor, argument: BatchShape) -> Tensor:
    """`view` of the batch dimensions of one tensor."""
    size, batch_ndim, free_event = argument
    if free_event is not None and tensor.dim() == batch_ndim + 1:
        return tensor.view(*free_event)
    return tensor.view((*size, *tensor.shape[batch_ndim:]))


def select_rows(tensor: Tensor, rows: Tensor) -> Tensor:
    """`tensor[rows]` for positions that exist. `index_select` copies whole rows; it wants both on one device."""
    return torch.index_select(tensor, 0, rows) if tensor.get_device() == rows.get_device() else tensor[rows]


IndexItem = int | slice | EllipsisType | Tensor | Sequence[int] | Sequence[bool] | range | None
"""One part of an index."""

Index = IndexItem | tuple[IndexItem, ...]
"""An index of an object: along its batch dimensions only, never by a field's name."""

PlainIndexItem = int | slice | Tensor | None
"""One part of a plain index; a tensor in it holds positions, of dtype long or int. A bool is a mask of no dimensions."""

PlainIndex = PlainIndexItem | tuple[PlainIndexItem, ...]
"""An index that can be applied to every tensor: lists, masks and ellipses are resolved."""
