"""Storage of `Ragged`: items of different lengths, as their rows behind one another and a length for each item.

Whatever rearranges a batch is done to the numbers of its items, and then the rows are taken in the order of these numbers: as a
view where the items follow one another. The lengths say where rows belong. They move and are saved with the rows, and nothing
computes with them; they are never written to, so that objects share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from operator import getitem
from typing import Any, Self, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._C._functorch import is_batchedtensor, is_functorch_wrapped_tensor
from torch.compiler import is_compiling, is_dynamo_compiling

from ..core.construction import DeviceLike, as_device
from ..core.contents import allocate_like, leaf_pairs
from ..core.dimension_names import NamesLike
from ..core.dimension_names import names as checked_names
from ..core.error_text import abridged, describe, label
from ..core.locks import lock as lock_object
from ..core.sizes import BatchSize, is_unknown, reshape_tensor, select_rows, view_tensor
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from .per_item import effect_on_items, on_cpu, with_real_tensors
from .ragged_rows import (
    Rows,
    between,
    count,
    cut,
    described,
    device_of,
    dims,
    joined,
    picked,
    refuse_other_lengths,
    tensor_of,
    with_sizes,
)
from .tensor import Join

A = TypeVar("A")

Field = tuple[Stored, str]
"""A field for a message: the object, and its name."""


class RaggedStorage(Stored):
    """The part of `Ragged` that other classes have generated: slots and primitives."""

    __slots__ = ("_rows", "_sizes", "_starts")

    _rows: Rows
    _sizes: Tensor | None
    """The lengths; None in a single item until they are asked for."""
    _starts: list[int] | None
    """Where each item begins and the last one ends, counted from anywhere; None as long as nobody has read the lengths."""

    _fingerprint = "ragged"
    __structure__ = ("lengths",)

    @property
    def _lengths(self) -> Tensor:
        if self._sizes is None:
            self._sizes = torch.full((), count(self._rows), dtype=torch.int64, device=device_of(self._rows))
        return self._sizes

    rows = property(lambda self: self._rows, doc="The rows of all items, item by item.")
    lengths = property(lambda self: self._lengths, doc="How many rows each item has, in the shape of the batch.")

    def __init__(
        self,
        rows: Rows,
        lengths: Tensor | Sequence[int] | int | None = None,
        *,
        batch_size: BatchSize = None,
        device: DeviceLike = None,
        names: NamesLike = None,
        lock: bool = False,
    ) -> None:
        if isinstance(rows, Tensor) and rows.is_nested:
            raise TypeError("Ragged: expected rows in a Tensor, got a nested one; use Ragged.of(nested)")
        if not isinstance(rows, (Tensor, Stored)) or not dims(rows):
            raise TypeError(
                f"Ragged: expected a Tensor or an object of a TensorClass, with a dimension for the rows, got {described(rows)}"
            )
        place = device_of(rows)
        given = count(rows) if lengths is None else lengths
        sizes = given if isinstance(given, Tensor) else torch.tensor(given, device=place)
        if sizes.is_floating_point() and sizes.numel():
            raise TypeError(f"Ragged: expected integers for the lengths, got {describe(given)}")
        sizes = sizes.to(place, torch.int64, copy=isinstance(given, Tensor))  # who gave a tensor may write to it
        size = as_batch_size(batch_size)
        if sizes.shape[: len(size)] != size:
            shape = list(sizes.shape)
            raise ValueError(f"Ragged: expected lengths of a shape that starts with {list(size)}, got {shape}")
        self._fill(rows, sizes, None, sizes.shape, None, checked_names(self, names, sizes.shape))
        self.refuse_unfit("Ragged")
        if device is not None:
            moved = self._map_with(Tensor.to, as_device(device), as_device(device))
            self._rows, self._sizes, self._device = moved._rows, moved._sizes, moved._device
        if lock:
            lock_object(self)

    def refuse_unfit(self, where: str) -> None:
        """Refuse lengths that do not add up to the rows; in a graph, when it runs."""
        if self.starts(where) is None:
            fits = (self._lengths.sum() == count(self._rows)) & (self._lengths >= 0).all()
            torch.ops.aten._assert_async.msg(fits, f"{where}: expected lengths of as many rows in all as there are")

    def refuse_damaged(self, where: str, advice: str = "") -> None:
        """Refuse rows and lengths that a file or a function of a tree gave, and that do not belong together.

        On a GPU the sum of the lengths is refused only once they are read.
        """
        where, rows, sizes = type(self).__name__ + where, self._rows, self._sizes
        if sizes is None or not isinstance(rows, cast(Any, type(self)).rows_class) or not dims(rows):
            raise TypeError(f"{where}: expected rows and their lengths, got {describe(rows)} and {describe(sizes)}")
        if sizes.dtype is not torch.int64:
            raise TypeError(f"{where}: expected lengths of torch.int64, got {sizes.dtype}{advice}")
        traced = is_compiling() or is_functorch_wrapped_tensor(sizes) or torch._C._len_torch_dispatch_stack()
        if sizes.is_cpu and type(sizes) is Tensor and not traced:
            self.refuse_unfit(where)

    def starts(self, where: str = "Ragged") -> list[int] | None:
        """Where each item begins among the rows, and the end of the last one; None where that cannot be read, as in a graph."""
        if is_dynamo_compiling():
            return None  # a graph would be specialised on them
        if self._starts is None and type(self._lengths) is Tensor and not self._lengths.is_meta and not is_compiling():
            sizes, total = self._lengths.reshape(-1).tolist(), count(self._rows)
            starts = [0, *accumulate(sizes)]
            if starts[-1] != total or starts != sorted(starts):
                raise ValueError(f"{where}: expected lengths of {total} rows in all, got {abridged(sizes)}")
            self._starts = starts
        return self._starts

    def refuse_other_than_rearranging(self, fn: object, argument: object, field: Field | None) -> None:
        """Refuse a function that does something else to items, or items whose lengths nobody knows."""
        what = effect_on_items(fn, argument, self._batch_size)
        if self.starts() is None:
            self.refuse_unknown(_where(self, field))
        if what is not None:
            said = "computed along dimensions" if what == "kept" else what
            advice = "reduce the rows of each item with .reduce(...), or compute with .rows"
            of = "the items of a Ragged" if field is None else f"{label(*field)} is Ragged, and its items"
            raise TypeError(f"{of} cannot be {said}; {advice}")

    def refuse_unknown(self, where: str) -> None:
        """Refuse lengths that nobody can read."""
        if is_unknown(self._lengths) and self.starts() is None:
            raise TypeError(
                f"{where}: the lengths of Ragged items are unknown on the meta device and in fake tensors; "
                "rearrange the items before, or make them of lists"
            )

    def _fill(
        self,
        rows: Rows,
        lengths: Any,
        starts: list[int] | None,
        batch_size: Size,
        device: torch.device | None,
        names: Any = None,
    ) -> Self:
        self._rows = rows
        self._sizes = lengths
        self._starts = starts
        self._batch_size = batch_size
        self._device = device
        self._names = names
        self._lock = None
        return self

    def _assign(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Self:
        lengths = values[1]
        if isinstance(lengths, Tensor) and lengths.shape != batch_size:
            name, sizes = type(self).__name__, [*lengths.shape]
            raise ValueError(f"{name}: its items are of batch size {sizes}, which cannot become {[*batch_size]}")
        return self._fill(values[0], lengths, None, batch_size, device)

    def _map(self, fn: Callable[[Tensor], Tensor]) -> Self:
        return self.with_rows(fn(self._rows) if isinstance(self._rows, Tensor) else self._rows._map(fn))

    def _map_with(self, fn: Callable[[Tensor, A], Tensor], argument: A, device: torch.device | None) -> Self:
        rows, lengths = self._rows, self._sizes
        rows = fn(rows, argument) if isinstance(rows, Tensor) else rows._map_with(fn, argument, device)
        if device is not None and isinstance(lengths, Tensor) and lengths.device != device:
            lengths = lengths.to(device)
        starts = None if is_dynamo_compiling() else self._starts
        return object.__new__(type(self))._fill(rows, lengths, starts, self._batch_size, device, self._names)

    def _check_compatible(self, other: Any) -> None:
        if isinstance(self._rows, Stored):
            self._rows._check_compatible(other._rows)

    def _leaves(self) -> list[Tensor]:
        return [self._rows] if isinstance(self._rows, Tensor) else self._rows._leaves()

    def _field_values(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return (self._rows, self._lengths), ()

    def _to_dict(self) -> dict[str, object]:
        rows = self._rows._to_dict() if isinstance(self._rows, Stored) else self._rows
        return {"rows": rows, "lengths": self._lengths}

    def with_rows(self, rows: Rows) -> Self:
        """The same items with other rows.

        Raises:
            ValueError: there are more rows or fewer.
        """
        old = self._rows
        if isinstance(rows, Tensor) and isinstance(old, Tensor) and not (rows.dim() and rows.size(0) == old.size(0)):
            raise ValueError(
                f"{type(self).__name__}.rows: the lengths say that there are {len(old)} rows, which cannot become "
                f"those of the shape {list(rows.shape)}"
            )
        starts = None if is_dynamo_compiling() else self._starts
        return allocate_like(self)._fill(rows, self._sizes, starts, self._batch_size, self._device, self._names)

    def _rearrange(
        self, fn: Callable[[Tensor, A], Tensor], argument: A, batch_size: Size, field: Field | None = None
    ) -> Self:
        """The usual indexes take a few steps; whatever else rearranges is done to the numbers of the items."""
        starts, index = self.starts(), cast(Any, argument)
        if starts is not None and len(self._batch_size) == 1 and fn in (getitem, select_rows):
            items = len(starts) - 1
            if type(index) is int:
                at = index if index >= 0 else index + items
                return self.following(at, at + 1, None, batch_size)
            if type(index) is slice and index.step in (None, 1):
                first, stop, _ = index.indices(items)
                return self.following(first, max(first, stop), self._lengths[index], batch_size)
            if type(index) is Tensor and not is_functorch_wrapped_tensor(index):
                order: list[int] = index.reshape(-1).tolist()
                if order and min(order) < 0:
                    order = [at if at >= 0 else at + items for at in order]
                return self.taken(order, self._lengths[index], batch_size)
        self.refuse_other_than_rearranging(fn, argument, field)
        if fn is view_tensor:  # the order of items has no strides that could forbid a view
            fn = cast("Callable[[Tensor, A], Tensor]", reshape_tensor)
        order = self.orders(_where(self, field), lambda numbers, given: [fn(numbers, given)], argument)[0]
        return self.taken(order, fn(self._lengths, argument), batch_size)

    def orders(self, where: str, arrange: Callable[[Tensor, A], Sequence[Tensor]], argument: A) -> list[Any]:
        """What a function makes of the numbers of the items, each as a list; in a graph as a tensor of one dimension."""
        if self.starts() is not None:
            return _read(where, arrange, on_cpu(argument), self._lengths.shape)
        numbers = torch.arange(self._lengths.numel(), device=self._lengths.device).view(self._lengths.shape)
        return [each.reshape(-1) for each in arrange(numbers, argument)]

    def taken(self, order: Any, lengths: Tensor, batch_size: Size) -> Self:
        """The items with these numbers, whose lengths they are. Rows are a view where the items follow one another."""
        if self.starts() is not None and order == list(range(first := order[0] if order else 0, first + len(order))):
            return self.following(first, first + len(order), lengths, batch_size)
        numbers, starts = self.row_numbers(order, lengths)
        rows = picked(self._rows, numbers)
        return object.__new__(type(self))._fill(rows, lengths, starts, batch_size, self._device)

    def following(self, first: int, stop: int, lengths: Tensor | None, batch_size: Size) -> Self:
        """The items from one number to before another, whose lengths they are, where numbers can be read: a view."""
        every: Any = self._starts  # which have been read
        starts = every[first : stop + 1]
        rows = between(self._rows, starts[0] - every[0], starts[-1] - every[0])
        return object.__new__(type(self))._fill(rows, lengths, starts, batch_size, self._device)

    def row_numbers(self, order: Any, lengths: Tensor) -> tuple[Tensor, list[int] | None]:
        """The numbers of the rows of some items, whose lengths they are, and where each of the items begins among these."""
        starts, sizes = self.starts(), lengths.reshape(-1)
        if starts is None:
            flat, ends = self._lengths.reshape(-1), None
            shifts = (flat.cumsum(0) - flat)[order] - (sizes.cumsum(0) - sizes)
        else:
            ends = [*accumulate([starts[at + 1] - starts[at] for at in order], initial=starts[0])]
            shifts = tensor_of([starts[at] - end for at, end in zip(order, ends, strict=False)], sizes.device)
        numbers = torch.repeat_interleave(shifts, sizes, output_size=None if ends is None else ends[-1] - ends[0])
        return numbers + torch.arange(numbers.shape[0], device=sizes.device), ends

    def selected(self, where: str, index: Any) -> Tensor:
        """The numbers of the rows of the items that an index selects."""
        self.refuse_unknown(where)
        order = self.orders(where, lambda numbers, at: [numbers[at]], index)[0]
        return self.row_numbers(order, self._lengths[index])[0]

    def _zip(self, fn: Callable[[Tensor, Tensor], Tensor], other: Any, field: Field | None = None) -> Self:
        refuse_other_lengths(_where(self, field), self._lengths, other._lengths)
        mine, theirs = self._rows, other._rows
        return self.with_rows(fn(mine, theirs) if isinstance(mine, Tensor) else mine._zip(fn, theirs))

    def _index_put(self, index: Any, other: Any, field: Field | None = None) -> None:
        """Write items over others, whose lengths have been compared; rows of another shape would be broadcast."""
        where = _where(self, field)
        numbers = self.selected(where, index)
        mine, theirs = self._rows, other._rows
        pairs = [(mine, theirs)] if isinstance(mine, Tensor) else leaf_pairs(picked(mine, numbers), theirs)
        for old, new in pairs:
            if old.shape[1:] != new.shape[1:]:
                shapes = f"{['n', *old.shape[1:]]}, got {['n', *new.shape[1:]]}"
                raise ValueError(f"{where}: written items: expected rows of the shape {shapes}")
        if isinstance(mine, Tensor):
            mine[numbers] = theirs.to(mine.dtype)
        else:
            mine._index_put(numbers, theirs)

    def _join(self, fn: Join, items: Sequence[Any], batch_size: Size, field: Field | None = None) -> Self:
        """Items of any lengths behind one another, and then in the order that `fn` gives their numbers."""
        rows = [item._rows for item in items]
        if not self._batch_size and len(batch_size) == 1 and self.starts() is not None:  # a stack of single items
            return cast("Self", with_sizes(joined(rows), [*map(count, rows)], batch_size, self._device))
        lengths, starts = [item._lengths for item in items], cast("list[int] | None", [0])
        for item in items:
            known = item.starts()
            if starts is None or known is None:
                starts = None
            else:
                shift = starts.pop() - known[0]
                starts += [start + shift for start in known] if shift else known
        in_order = fn in (torch.cat, torch.stack)  # along the first dimension
        sizes = fn(lengths) if in_order else torch.cat([each.reshape(-1) for each in lengths])
        every = object.__new__(type(self))._fill(joined(rows), sizes, starts, batch_size, self._device)
        if in_order:
            return every
        every.refuse_unknown(where := _where(self, field))

        def arrange(numbers: Tensor, sizes: list[int]) -> Sequence[Tensor]:
            parts = torch.split_with_sizes(numbers, sizes)
            return [fn([part.view(each.shape) for part, each in zip(parts, lengths, strict=True)])]

        order = every.orders(where, arrange, [each.numel() for each in lengths])[0]
        return every.taken(order, fn(lengths), batch_size)

    def _split(
        self,
        fn: Callable[[Tensor, A], Sequence[Tensor]],
        argument: A,
        batch_sizes: Sequence[Size],
        field: Field | None = None,
    ) -> Sequence[Self]:
        """Pieces of one batch dimension follow one another; of several, the numbers of items say which they have."""
        self.refuse_other_than_rearranging(fn, argument, field)
        lengths, starts = fn(self._lengths, argument), self.starts()
        if starts is None or len(self._batch_size) != 1:
            parts = zip(self.orders(_where(self, field), fn, argument), lengths, batch_sizes, strict=False)
            return [self.taken(order, sizes, size) for order, sizes, size in parts]
        cuts = [0, *accumulate(each.numel() for each in lengths)]
        pieces = [starts[first : stop + 1] for first, stop in pairwise(cuts)]
        rows = cut(self._rows, [each[-1] - each[0] for each in pieces])
        return [
            object.__new__(type(self))._fill(part, sizes, each, size, self._device)
            for part, sizes, each, size in zip(rows, lengths, pieces, batch_sizes, strict=False)
        ]


@with_real_tensors
def _read(where: str, arrange: Callable[[Tensor, A], Sequence[Tensor]], argument: A, size: Size) -> list[Any]:
    numbers = torch.arange(size.numel(), device="cpu").view(size)
    found = [each.reshape(-1) for each in arrange(numbers, argument)]
    if any(map(is_batchedtensor, found)):
        raise TypeError(f"{where}: vmap cannot map over Ragged items, which are of different lengths; use .padded()")
    return [each.tolist() for each in found]


def _where(self: RaggedStorage, field: Field | None) -> str:
    """How a message begins: with the field of another object that this is in, or with the class."""
    return type(self).__name__ if field is None else label(*field)
