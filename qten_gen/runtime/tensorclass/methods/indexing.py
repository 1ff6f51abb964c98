"""Indexing along the batch dimensions.

An index is brought into plain form, for which the batch size of the result is known before a tensor is touched. The usual ones
are here, the others in `unusual_indices.py`.
"""

from __future__ import annotations

from operator import getitem as item_of
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from torch import Size, Tensor
from torch.compiler import is_compiling

from .unusual_indices import indexed, plain_form
from ..core.contents import batched_leaves
from ..core.error_text import NO_BATCH_SIZE
from ..core.sizes import mask_indices, slice_length, with_length
from ..core.stored import Stored

if TYPE_CHECKING:
    from ..core.sizes import Index, PlainIndex, PlainIndexItem

T = TypeVar("T", bound=Stored)


def getitem(self: T, index: Index) -> T:
    """The items that `index` selects along the batch dimensions.

    The result is what indexing every tensor gives: with tensors of shape `[*batch, *event]`, `[*indexed, *event]`. Integers and
    slices give views, masks and positions copies.

        batch[0], batch[1:3], batch[mask], batch[[2, 0]], batch[..., None]

    Args:
        index: Integers, slices, None, an ellipsis, lists or tensors, one for each batch dimension from the first on. A tensor
            of dtype long or int holds positions; one of dtype bool is a mask, whose shape is that of the batch
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
            selected = self._rearrange(_select_rows, rows, with_length(batch_size, 0, rows.shape[0]))
            selected._names = self._names
            return selected
        found = _any_other(self, index)
    plain, size = found
    selected = self._rearrange(item_of, plain, size)
    if self._names is not None:
        selected._names = indexed(batch_size, plain, self._names)[1]
    return selected


def plain_index(self: Stored, index: Index) -> PlainIndex:
    """An index along the batch dimensions in a form that can be applied to every tensor that carries them.

    Raises:
        IndexError: the index is out of range or reaches beyond the batch dimensions.
        TypeError: it is none of the types of `Index`.
    """
    return resolved(self, index)[0]


def length(self: Stored) -> int:
    """The size of the first batch dimension.

    Raises:
        TypeError: there is none.
    """
    try:
        return self._batch_size[0]
    except IndexError:
        raise TypeError(f"a {type(self).__name__} without batch dimensions has no len(); {NO_BATCH_SIZE}") from None


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
    """Whether no index is negative or out of range, where it is cheap to know: in main memory, of tensors with rows."""
    if is_compiling() or not index.is_cpu or all(leaf.dim() == 1 for leaf in batched_leaves(self)):
        return False
    low, high = torch.aminmax(index)
    try:
        return low.item() >= 0 and high.item() < self._batch_size[0]
    except RuntimeError:  # vmap and fake tensors have no values to look at
        return False


def _select_rows(tensor: Tensor, rows: Tensor) -> Tensor:
    """`tensor[rows]` for positions that exist. `index_select` copies whole rows; it wants both on one device."""
    return torch.index_select(tensor, 0, rows) if tensor.get_device() == rows.get_device() else tensor[rows]


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
    if type(index) is Tensor and index.dtype is torch.long and index.dim() > 0 and batch_size:
        shape = index.shape
        return index, shape if len(batch_size) == 1 else Size((*shape, *batch_size[1:]))
    plain = plain_form(self, index)
    return plain, indexed(batch_size, plain)[0]
