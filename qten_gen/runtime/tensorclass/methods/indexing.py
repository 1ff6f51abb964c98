"""Indexing along the batch dimensions.

An index is brought into plain form, for which the batch size of the result is known before a tensor is touched. The usual ones
come first.
"""

from __future__ import annotations

from functools import partial
from operator import getitem as item_of
from operator import index as integer
from types import EllipsisType
from typing import SupportsIndex, TypeVar, cast

import torch
from torch import Size, Tensor
from torch.compiler import is_compiling

from ..core.contents import batched_leaves
from ..core.dimension_names import Names
from ..core.error_text import NO_BATCH_SIZE, abridged, describe
from ..core.sizes import (
    Index,
    IndexItem,
    PlainIndex,
    PlainIndexItem,
    mask_indices,
    select_rows,
    slice_length,
    with_length,
)
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)


def getitem(self: T, index: Index) -> T:
    """The items that `index` selects along the batch dimensions.

    The result is what indexing every tensor gives: with tensors of shape `[*batch, *event]`, `[*indexed, *event]`. Integers and
    slices give views, masks and positions copies.

        batch[0], batch[1:3], batch[mask], batch[[2, 0]], batch[..., None]

    Args:
        index: Integers, slices, None, an ellipsis, lists or tensors, one for each batch dimension from the first on. A tensor
            of dtype long or int holds positions; one of dtype bool is a mask, with the shape of the batch
            dimensions it covers. So True, a mask of no dimensions, adds one of size 1, and False one of size 0.

    Raises:
        IndexError: the index is out of range or reaches beyond the batch dimensions.
        TypeError: it is none of the types above.
    """
    batch_size = self._batch_size
    found = _basic(batch_size, index)
    if found is None:
        rows = _rows_of(self, index)
        if rows is not None:
            selected = self._rearrange(select_rows, rows, with_length(batch_size, 0, rows.shape[0]))
            selected._names = self._names
            return selected
        found = _any_other(self, index)
    plain, size = found
    selected = self._rearrange(item_of, plain, size)
    if self._names is not None:
        selected._names = indexed(batch_size, plain, self._names)[1]
    return selected


def length(self: Stored) -> int:
    """The size of the first batch dimension.

    Raises:
        TypeError: there is none.
    """
    try:
        return self._batch_size[0]
    except IndexError:
        # `torch.tensor(batch)` ends here too, with its items.
        instead = f"{NO_BATCH_SIZE}; a tensor is made of its fields"
        raise TypeError(f"a {type(self).__name__} without batch dimensions has no len(); {instead}") from None


_MANY = 256
"""From how many positions on it pays to ask whether all of them count from the front."""


def _rows_of(self: Stored, index: Index) -> Tensor | None:
    """The positions that a mask or a tensor of indices selects, where `index_select` may take them; None elsewhere."""
    if type(index) is not Tensor or index.dim() != 1 or not self._batch_size:
        return None
    if index.dtype is torch.bool:
        return mask_indices(self, index, 0)[0]
    if index.dtype is torch.long and index.numel() >= _MANY and _are_positions(self, index):
        return index
    return None


def _are_positions(self: Stored, index: Tensor) -> bool:
    """True if no index is negative or out of range, where it is cheap to know: in main memory, of tensors with rows."""
    if is_compiling() or not index.is_cpu or all(leaf.dim() == 1 for leaf in batched_leaves(self)):
        return False
    low, high = torch.aminmax(index)
    try:
        return low.item() >= 0 and high.item() < self._batch_size[0]
    except RuntimeError:  # vmap and fake tensors have no values to look at
        return False


def resolved(self: Stored, index: Index) -> tuple[PlainIndex, Size]:
    """The index in plain form, and the batch size of the items that it selects."""
    return _basic(self._batch_size, index) or _any_other(self, index)


def _basic(batch_size: Size, index: Index) -> tuple[PlainIndex, Size] | None:
    """An integer, a slice or a tuple of both, and the batch size that it leaves; None for other indexes and those out of range.

    These are the usual ones. Slices are tested first: every type tested before the one that matches is a guard in a graph.
    """
    if not batch_size:
        return None
    if type(index) is slice:
        length = slice_length(index, batch_size[0])
        return index, Size((length,)) if len(batch_size) == 1 else with_length(batch_size, 0, length)
    if type(index) is int:
        if not -batch_size[0] <= index < batch_size[0]:
            return None  # out of range: `_any_other` raises
        return index, batch_size[1:] if len(batch_size) > 1 else Size()
    if type(index) is not tuple or len(index) > len(batch_size):
        return None
    sizes: list[int] = []
    rest = iter(batch_size)
    for item in index:
        size = next(rest)
        if type(item) is slice:
            sizes.append(slice_length(item, size))
        elif type(item) is not int or not -size <= item < size:
            return None
    sizes += rest
    return cast("tuple[PlainIndexItem, ...]", index), Size(sizes)


def _any_other(self: Stored, index: Index) -> tuple[PlainIndex, Size]:
    """Any other index in plain form, and the batch size of the items that it selects."""
    batch_size = self._batch_size
    if type(index) is list and index and type(index[0]) is int:
        index = _index_tensor(self, index)
    if type(index) is Tensor and index.dtype is torch.long and index.dim() > 0 and batch_size:
        shape = index.shape
        return index, shape if len(batch_size) == 1 else Size((*shape, *batch_size[1:]))
    plain = plain_form(self, index)
    return plain, indexed(batch_size, plain)[0]


# Other indices: lists, masks, several tensors, an ellipsis.


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
