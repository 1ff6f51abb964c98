"""Indexes of every kind in plain form: lists, arrays, an ellipsis, None, several tensors."""

from __future__ import annotations

from functools import partial
from operator import index as integer
from types import EllipsisType
from typing import SupportsIndex, cast

import torch
from torch import Size, Tensor

from ..core.dimension_names import Names
from ..core.error_text import NO_BATCH_SIZE, abridged, describe
from ..core.sizes import Index, IndexItem, PlainIndex, PlainIndexItem, mask_indices, slice_length
from ..core.stored import Stored


def plain_form(self: Stored, index: Index) -> PlainIndex:
    """The same index made of integers, slices, None, bools and integer tensors; an ellipsis is for batch dimensions only."""
    items = index if isinstance(index, tuple) else (index,)
    tensors = list(map(partial(_item, self), items))
    used = sum(_dimensions(item) for item in tensors)
    batch_ndim = len(self._batch_size)
    if used > batch_ndim:
        instead = "a field's own dimensions are indexed on the field" if batch_ndim else NO_BATCH_SIZE
        raise IndexError(
            f"{type(self).__name__} has {batch_ndim} batch dimension{'' if batch_ndim == 1 else 's'}, "
            f"[{shown(index)}] indexes {used}; {instead}"
        )
    if sum(item is Ellipsis for item in tensors) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    plain: list[PlainIndexItem] = []
    position = 0
    for item in tensors:
        if item is Ellipsis:
            plain += [slice(None)] * (batch_ndim - used)
            position += batch_ndim - used
        elif isinstance(item, Tensor) and item.dtype is torch.bool:
            plain += mask_indices(self, item, position)
            position += item.dim()
        else:
            plain.append(cast("PlainIndexItem", item))  # type: ignore[redundant-cast] # pyright does not see that `...` is gone
            position += _dimensions(item)
    return plain[0] if len(plain) == 1 else tuple(plain)


def _item(self: Stored, item: IndexItem) -> PlainIndexItem | EllipsisType:
    """One part of an index, with a sequence or an array made a tensor."""
    if item is None or isinstance(item, (slice, EllipsisType, bool)):
        return item
    is_array = getattr(item, "ndim", 0) > 0 and not isinstance(item, Tensor) and not isinstance(item, Stored)
    if is_array or isinstance(item, (list, range, tuple)):
        item = _index_tensor(self, item)
        if item.dtype in _INTEGERS_OF_ARRAYS:
            item = item.long()
    if isinstance(item, Tensor):
        if item.dtype is torch.bool and item.dim() == 0:
            return bool(item)
        if item.dtype in _INDEX_DTYPES:
            return item
        raise TypeError(f"{type(self).__name__} is indexed with long, int or bool tensors, got {describe(item)}")
    if isinstance(item, str):
        raise TypeError(
            f"{type(self).__name__} is indexed along its batch dimensions; "
            f"read a field as an attribute or with .get({abridged(item)})"
        )
    if str(getattr(item, "dtype", "")) == "bool":  # a scalar of NumPy
        return bool(item)
    if not isinstance(item, SupportsIndex):
        raise TypeError(
            f"{type(self).__name__} is indexed with int, slice, None, ..., a Tensor, a list or range of int or bool, "
            f"or a tuple of those, got {describe(item)}"
        )
    return integer(item)


_INDEX_DTYPES = (torch.long, torch.int, torch.bool)

_INTEGERS_OF_ARRAYS = (torch.int8, torch.int16, torch.uint16, torch.uint32, torch.uint64)
"""Torch takes arrays of these integers as positions, but not tensors of them."""


def _index_tensor(self: Stored, item: object) -> Tensor:
    """The tensor of a list, a range or an array of indexes."""
    values = list(item) if isinstance(item, range) else item
    try:
        made = torch.as_tensor(values, device="cpu")
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{type(self).__name__} is indexed with lists of int or bool, got {abridged(item)}") from error
    return made if made.numel() else made.long()  # torch takes an empty list for floating point numbers


def _dimensions(item: PlainIndexItem | EllipsisType) -> int:
    """How many batch dimensions a part of an index takes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.dim() if isinstance(item, Tensor) and item.dtype is torch.bool else 1


def indexed(batch_size: Size, index: PlainIndex, names: Names | None = None) -> tuple[Size, Names | None]:
    """The batch size that an index leaves, by the rules of torch, and the names of its dimensions.

    Tensors among the parts broadcast to one shape, and so does a bool, which counts as one position or as none. It takes the
    place of the first of them, or stands in front where slices or None lie between them. Its dimensions have no names, unless a
    single tensor of one dimension selects from the one that has the name.
    """
    items = index if isinstance(index, tuple) else (index,)
    left: list[tuple[int, str | None]] = []
    shapes: list[Size] = []
    places: list[int] = []
    selected: str | None = None
    rest = iter(zip(batch_size, names or (None,) * len(batch_size), strict=True))
    for item in items:
        if item is None:
            left.append((1, None))
            continue
        if isinstance(item, bool):
            shapes.append(Size((int(item),)))
            places.append(len(left))
            continue
        size, name = next(rest)
        if isinstance(item, slice):
            left.append((slice_length(item, size), name))
        elif isinstance(item, Tensor) and item.dim() > 0:
            shapes.append(item.shape)
            places.append(len(left))
            selected = name
        elif isinstance(item, int) and not -size <= item < size:
            raise IndexError(f"index {item} is out of range for a batch dimension of size {size}")
    left += rest
    if shapes:
        try:
            shape: Size = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call] # torch leaves it untyped
        except RuntimeError as error:
            raise IndexError(f"the tensors of an index do not fit together: {error}") from error
        kept = selected if len(shapes) == len(shape) == 1 else None
        # Where other parts stand between the tensors, torch puts their dimensions in front.
        at = places[0] if places[0] == places[-1] else 0
        left[at:at] = [(length, kept) for length in shape]
    found = tuple([name for _, name in left])
    return Size([length for length, _ in left]), found if any(name is not None for name in found) else None


def shown(index: Index) -> str:
    """An index as it is written, tensors by their shape."""
    if isinstance(index, tuple):
        return ", ".join(shown(item) for item in index)
    if isinstance(index, Tensor):
        return f"Tensor{list(index.shape)}"
    if isinstance(index, slice):
        parts = [index.start, index.stop, *([] if index.step is None else [index.step])]
        return ":".join("" if part is None else str(part) for part in parts)
    return "..." if index is Ellipsis else abridged(index)
