"""The rows of `Ragged`, which are a Tensor or an object of a TensorClass: taken item by item, and gathered from lists."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from operator import getitem
from typing import Any

import torch
from torch import Size, Tensor
from torch.compiler import is_compiling

from ..core import late
from ..core.construction import values_of_lists
from ..core.error_text import describe
from ..core.sizes import select_rows, with_length
from ..core.stored import Stored

Rows = Any
"""A Tensor whose first dimension is the rows, or an object of a TensorClass whose first batch dimension is."""


def count(rows: Rows) -> int:
    """How many rows there are."""
    return dims(rows)[0]


def dims(rows: Tensor | Stored) -> Size:
    """The shape of rows, the batch size of objects."""
    return rows.shape if isinstance(rows, Tensor) else rows._batch_size


def between(rows: Rows, start: int, stop: int) -> Rows:
    """The rows from one number to before another: a view."""
    if isinstance(rows, Tensor):
        return rows[start:stop]
    return rows._rearrange(getitem, slice(start, stop), with_length(rows._batch_size, 0, stop - start))


def cut(rows: Rows, sizes: list[int]) -> Sequence[Rows]:
    """The rows in pieces of these sizes: views."""
    if isinstance(rows, Tensor):
        return torch.split_with_sizes(rows, sizes)
    found: Sequence[Rows] = rows._split(
        torch.split_with_sizes, sizes, [with_length(rows._batch_size, 0, size) for size in sizes]
    )
    return found


def picked(rows: Rows, numbers: Tensor) -> Rows:
    """The rows with these numbers, in their order."""
    if isinstance(rows, Tensor):
        return rows.index_select(0, numbers)
    return rows._rearrange(select_rows, numbers, with_length(rows._batch_size, 0, numbers.shape[0]))


def joined(rows: Sequence[Rows]) -> Rows:
    """The rows of several behind one another."""
    first = rows[0]
    if isinstance(first, Tensor):
        return torch.cat([*rows])
    return first._join(torch.cat, rows, with_length(first._batch_size, 0, sum(map(count, rows))))


def from_items(where: str, cls: type[Any], value: Any, batch_size: Size | None) -> Any:
    """The Ragged of rows for each item, in lists as deep as there are batch dimensions, or of a jagged nested tensor.

    Args:
        where: How an error message begins.
        cls: The class of the rows.
        batch_size: The sizes of the lists; None for one list of any length.
    """
    if isinstance(value, Tensor) and value.layout is torch.jagged and cls is Tensor:
        return _from_jagged(where, value)
    if isinstance(value, Tensor) and value.is_nested:
        raise TypeError(f"{where}: expected a nested tensor of rows in a Tensor, with layout=torch.jagged")
    if batch_size is None:
        batch_size = Size((len(value),))
    what = f"items, each {_rows_of(cls)}, or a Ragged (Ragged.from_padded makes one of padded rows)"
    items: list[Any] = values_of_lists(where, value, batch_size, what)
    if not items:
        raise ValueError(f"{where}: a list without items does not say the shape of rows; pass Ragged(rows, lengths)")
    advice = "" if batch_size else "; pass batch_size=... for a batch of items"
    if cls is not Tensor:
        _refuse_items(where, cls, items, advice)
    try:
        shapes = [item.shape for item in items] if cls is Tensor else [item._batch_size for item in items]
        rows = items[0] if len(items) == 1 else torch.cat(items) if cls is Tensor else joined(items)
        sizes = [shape[0] for shape in shapes]
    except (AttributeError, IndexError, TypeError, RuntimeError):
        _refuse_items(where, cls, items, advice)
        raise
    # `torch.cat` takes an empty tensor of one dimension for one of any shape.
    if not isinstance(rows, cls) or (cls is Tensor and rows.dim() > 1 and 1 in map(len, shapes)):
        _refuse_items(where, cls, items, advice)
    return with_sizes(rows, sizes, batch_size, None)


def with_sizes(rows: Rows, sizes: list[int], batch_size: Size, device: torch.device | None) -> Any:
    """The Ragged of rows, of which each item has so many. A single item gets its length as a tensor when it is asked for."""
    lengths = tensor_of(sizes, device_of(rows)).view(batch_size) if batch_size else None
    starts = None if is_compiling() else [0, *accumulate(sizes)]
    return object.__new__(late.ragged.class_for(type(rows)))._fill(rows, lengths, starts, batch_size, device)


def _refuse_items(where: str, cls: type[Any], items: list[Any], advice: str) -> None:
    """Refuse items that are not all rows of one class and shape; the advice is about a list."""
    for at, item in enumerate(items):
        if not isinstance(item, cls) or not dims(item):
            got = f"{described(item)}{advice if isinstance(item, list) else ''}"
            raise TypeError(f"{where}: item {at}: expected {_rows_of(cls)}, got {got}")
        if cls is Tensor and item.shape[1:] != items[0].shape[1:]:
            wanted = ["n", *items[0].shape[1:]]
            raise ValueError(f"{where}: item {at}: expected a shape of {wanted} as in item 0, got {list(item.shape)}")


def tensor_of(values: list[int], device: torch.device) -> Tensor:
    """A tensor of integers. `torch.tensor` takes ten times as long, number by number."""
    if is_compiling() or not values or torch._C._len_torch_dispatch_stack():
        return torch.tensor(values, dtype=torch.int64, device=device)
    found = torch.frombuffer(array("q", values), dtype=torch.int64)
    return found if device.type == "cpu" else found.to(device)


def device_of(rows: Rows) -> torch.device:
    """Where rows are, and their lengths with them."""
    leaves = [rows] if isinstance(rows, Tensor) else rows._leaves()
    return leaves[0].device if leaves else torch.device("cpu")


def refuse_other_lengths(where: str, mine: Tensor, theirs: Tensor) -> None:
    """Refuse items of different lengths. A graph refuses them when it runs.

    Raises:
        ValueError: they differ.
    """
    if mine is theirs:
        return
    if is_compiling() or type(mine) is not Tensor or mine.is_meta:
        torch.ops.aten._assert_async.msg((mine == theirs).all(), f"{where}: expected items of the same lengths")
        return
    one, other = mine.reshape(-1).tolist(), theirs.reshape(-1).tolist()
    if one != other:
        at = next(at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        raise ValueError(f"{where}: expected the same lengths in both, got {one[at]} and {other[at]} rows in item {at}")


def _rows_of(cls: type) -> str:
    return f"a {cls.__name__} whose {'first' if cls is Tensor else 'batch'} dimension is the rows"


def described(value: object) -> str:
    size = f" of batch size {list(value._batch_size)}" if isinstance(value, Stored) else ""
    return f"{describe(value)}{size}"


def _from_jagged(where: str, value: Tensor) -> Any:
    if value._ragged_idx != 1:  # type: ignore[attr-defined] # of nested tensors, which torch has no public question for
        raise ValueError(
            f"{where}: expected a nested tensor whose ragged dimension is 1, got {value._ragged_idx}; transpose it"  # type: ignore[attr-defined]
        )
    lengths = value.offsets().diff()  # type: ignore[attr-defined]
    if value.lengths() is not None:  # type: ignore[attr-defined]
        raise ValueError(f"{where}: the nested tensor has rows that belong to no item; pass a contiguous one")
    made = object.__new__(late.ragged.class_for(Tensor))._fill(value.values(), lengths, None, lengths.shape, None)
    made.refuse_unfit(where)  # the offsets may leave out rows
    return made
