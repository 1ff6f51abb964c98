"""Assignment to the items of an object: `batch[index] = value`."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TypeVar

import torch
from torch import Size, Tensor
from torch.compiler import is_compiling

from ..core.blame import blame
from ..core.contents import batched_leaves, contents, ragged_fields
from ..core.error_text import label
from ..core.locks import refuse_if_frozen
from ..core.other_libraries import is_number, written
from ..core.sizes import Index, PlainIndex, over_batch, with_event
from ..core.stored import Stored
from ..fields.nested import object_for
from ..fields.per_item import PerItem
from ..fields.ragged_rows import refuse_other_lengths
from ..fields.same_values import equal
from .indexing import resolved, shown

T = TypeVar("T", bound=Stored)


def setitem(self: T, index: Index, value: T | Tensor | float) -> None:
    """Write into the items that `index` selects, in place.

    Where torch refuses one field, the fields before it are written already.

    Args:
        index: As in `getitem`.
        value: An object of the same class with the batch size and the static fields of those items, or a TensorDict that has
            its entries; a number; or a tensor whose shape broadcasts over their batch size. Numbers and tensors are converted to
            the dtype of each field.

    Raises:
        ValueError: the batch sizes do not fit, or a static field differs.
        RuntimeError: the object is a memory map, and the value of a PerItem field would change, which is not in a file.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "assign to an item of")
    plain, size = resolved(self, index)
    if type(value) is type(self):
        _put(self, index, plain, value, size)
    elif not isinstance(value, (Tensor, int, float)) and (found := object_for(type(self), value)) is not None:
        _put(self, index, plain, found, size)
    else:
        _fill(self, index, plain, value, size)


def _put(self: T, index: Index, plain: PlainIndex, value: T, size: Size) -> None:
    """Write an object into the items of an index, whose batch size is `size`."""
    if is_compiling() and _has_mask(index) and len(value._batch_size) == len(size):
        _check_in_graph(value._batch_size, size)
    elif value._batch_size != size:
        raise ValueError(
            f"{type(self).__name__}[{shown(index)}] has batch size {list(size)}, "
            f"the value has {list(value._batch_size)}"
        )
    self._check_compatible(value)
    if self._nested or self.__structure__:  # Ragged fields are among the nested ones
        _refuse_other_lengths(self, plain, value)
    if self._lock is not None and not is_compiling():
        _refuse_unsaved_items(self, plain, value)
    try:
        self._index_put(plain, value)
    except RuntimeError as error:
        name = f"{type(self).__name__}[{shown(index)}]"
        put, put_rows = lambda target, items: operator.setitem(target, plain, items), lambda *compared_before: None
        blame(name, [self, value], put, error, put_rows)
        raise


def _refuse_other_lengths(self: Stored, plain: PlainIndex, value: Stored) -> None:
    """Refuse to write items of other lengths, also in the rows of Ragged fields."""
    for (where, mine), (_, theirs) in zip(ragged_fields(self), ragged_fields(value), strict=True):
        refuse_other_lengths(f"{where}: written items", mine.lengths[plain], theirs.lengths)
        if isinstance(mine.rows, Stored):
            _refuse_other_lengths(mine.rows, mine.selected(where, plain), theirs.rows)


def _refuse_unsaved_items(self: Stored, plain: PlainIndex, value: Stored) -> None:
    """Refuse to write items whose Python values a memory map would not keep."""
    mine, theirs = contents(self), contents(value)
    for name in self._per_item:
        items = mine[name]
        refuse_unsaved(self, name, items[plain] if isinstance(items, PerItem) else items, theirs[name])
    for name in self._nested:
        nested, given = mine[name], theirs[name]
        if isinstance(nested, Stored) and isinstance(given, Stored) and nested._lock is not None:
            _refuse_unsaved_items(nested, plain, given)


def refuse_unsaved(owner: Stored, name: str, items: object, value: object) -> None:
    """Refuse a write to a memory map that gives a PerItem field other values than `items`.

    Raises:
        RuntimeError: another process, and the next one that loads it, would find the old values, beside new tensors.
    """
    is_lost = (
        owner._lock is not None
        and not is_compiling()
        and isinstance(items, PerItem)
        and isinstance(value, PerItem)
        and not equal(items.tolist(), value.tolist())
        and any(map(_is_in_file, owner._leaves()))
    )
    if is_lost:
        raise RuntimeError(
            f"{label(owner, name)}: the values of a PerItem field are in the metadata of a memory map, which writing into it"
            " does not change; call .unlock_(), write, and save with .memmap, or keep them in a tensor field"
        )


def _is_in_file(tensor: Tensor) -> bool:
    """True if `storage/files.py` has mapped it."""
    return tensor.layout is torch.strided and hasattr(tensor.untyped_storage(), "_qten_file")


def _has_mask(index: Index) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, Tensor) and item.dtype is torch.bool for item in items)


def _check_in_graph(given: Sequence[int], wanted: Sequence[int]) -> None:
    """Compare sizes where the code runs: how many items a mask selects is not known while it is traced."""
    for one, other in zip(given, wanted, strict=True):
        torch._check(one == other)  # type: ignore[no-untyped-call] # torch writes no types there


def _over_selected(value: Tensor, size: Size, event_ndim: int) -> Tensor:
    """`over_batch` in a graph, for the items that a mask selects."""
    last = size[len(size) - value.dim() :]
    wanted = [1 if own == 1 else selected for own, selected in zip(value.shape, last, strict=True)]
    _check_in_graph(value.shape, wanted)
    return with_event(value, event_ndim)


def _fill(self: Stored, index: Index, plain: PlainIndex, value: object, size: Size) -> None:
    """Write a number, or a tensor that broadcasts over the batch size `size` of the items, into the items of an index."""
    for where, ragged in ragged_fields(self):
        if not is_number(value):
            raise TypeError(
                f"{where}: a Tensor over the batch size does not apply to Ragged items; write into their rows, or write "
                "Ragged items of the same lengths"
            )
        numbers = ragged.selected(where, plain)
        for leaf in ragged._leaves():
            leaf[numbers] = written(value)
    if isinstance(value, Tensor):
        batch_ndim = len(self._batch_size)
        shaped = _over_selected if is_compiling() and _has_mask(index) and value.dim() <= len(size) else over_batch
        for leaf in batched_leaves(self):
            # Torch converts what it writes into a slice, but not what a mask or indices select.
            leaf[plain] = shaped(value, size, leaf.dim() - batch_ndim).to(leaf.dtype)
    elif is_number(value):
        number = written(value)
        for leaf in batched_leaves(self):
            leaf[plain] = number
    else:
        items, wrong = f"{type(self).__name__}[{shown(index)}]", type(value).__name__
        instead = f"; write into the tensors: batch.x[{shown(index)}] = ..." if isinstance(value, Mapping) else ""
        raise TypeError(f"{items}: expected {type(self).__name__}, a Tensor or a number, got {wrong}{instead}")
