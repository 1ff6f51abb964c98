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
from torch.compiler import is_compiling

from ...declaring.loading import Undeclared
from ..core.construction import DeviceLike, as_device
from ..core.contents import allocate_like, leaf_pairs, nested_class
from ..core.dimension_names import NamesLike
from ..core.dimension_names import names as checked_names
from ..core.error_text import abridged, describe, label
from ..core.locks import lock as lock_object
from ..core.sizes import BatchSize, reshape_tensor, view_tensor
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from .annotated_shapes import fits_alone
from .per_item import effect_on_items, on_cpu, with_real_tensors
from .ragged_rows import (
    Rows,
    between,
    count,
    described,
    device_of,
    dims,
    from_items,
    is_unknown,
    joined,
    picked,
    refuse_other_lengths,
    tensor_of,
)
from .tensor import Join, all_or_none

A = TypeVar("A")
R = TypeVar("R", bound="RaggedStorage | None")


class RaggedStorage(Stored):
    """The part of `Ragged` that other classes have generated: slots and primitives."""

    __slots__ = ("_lengths", "_rows", "_starts")

    _rows: Rows
    _lengths: Tensor
    _starts: list[int] | None
    """Where each item begins among the rows, and the end of the last; None as long as nobody has read the lengths."""

    _fingerprint = "ragged"
    __structure__ = ("lengths",)

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
        self._fill(rows, sizes, sizes.shape, None, checked_names(self, names, sizes.shape))
        self.refuse_unfit("Ragged")
        if device is not None:
            moved = self._map_with(Tensor.to, as_device(device), as_device(device))
            self._rows, self._lengths, self._device = moved._rows, moved._lengths, moved._device
        if lock:
            lock_object(self)

    def refuse_unfit(self, where: str) -> None:
        """Refuse lengths that do not add up to the rows; in a graph, when it runs."""
        if self.starts(where) is None:
            fits = (self._lengths.sum() == count(self._rows)) & (self._lengths >= 0).all()
            torch.ops.aten._assert_async.msg(fits, f"{where}: expected lengths of as many rows in all as there are")

    def refuse_unfit_in_tree(self) -> None:
        """Refuse lengths that a function of a tree has computed; on a GPU, only once they are read."""
        sizes = self._lengths
        if not isinstance(sizes, Tensor) or not isinstance(self._rows, (Tensor, Stored)):
            return  # markers
        where = f"{type(self).__name__}.lengths, which a function of a tree changed"
        if sizes.dtype is not torch.int64:
            raise TypeError(f"{where}: expected torch.int64, got {sizes.dtype}; use apply, which leaves them out")
        traced = is_compiling() or is_functorch_wrapped_tensor(sizes) or torch._C._len_torch_dispatch_stack()
        if sizes.is_cpu and type(sizes) is Tensor and not traced:
            self.refuse_unfit(where)

    def starts(self, where: str = "Ragged") -> list[int] | None:
        """Where each item begins among the rows, and the end of the last one; None where that cannot be read, as in a graph."""
        if is_compiling():
            return None
        if self._starts is None and type(self._lengths) is Tensor and not self._lengths.is_meta:
            sizes, total = self._lengths.reshape(-1).tolist(), count(self._rows)
            starts = [0, *accumulate(sizes)]
            if starts[-1] != total or starts != sorted(starts):
                raise ValueError(f"{where}: expected lengths of {total} rows in all, got {abridged(sizes)}")
            self._starts = starts
        return self._starts

    def refuse_unknown(self, where: str) -> None:
        """Refuse lengths that nobody can read."""
        if is_unknown(self._lengths) and self.starts() is None:
            raise TypeError(
                f"{where}: the lengths of Ragged items are unknown on the meta device and in fake tensors; "
                "rearrange the items before, or make them of lists"
            )

    def _fill(self, rows: Rows, lengths: Any, batch_size: Size, device: torch.device | None, names: Any = None) -> Self:
        self._rows, self._lengths, self._starts = rows, lengths, None
        self._batch_size, self._device, self._names, self._lock = batch_size, device, names, None
        return self

    def _assign(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Self:
        lengths = values[1]
        if isinstance(lengths, Tensor) and lengths.shape != batch_size:
            name, sizes = type(self).__name__, [*lengths.shape]
            raise ValueError(f"{name}: its items are of batch size {sizes}, which cannot become {[*batch_size]}")
        return self._fill(values[0], lengths, batch_size, device)

    def _map(self, fn: Callable[[Tensor], Tensor]) -> Self:
        rows: Rows = fn(self._rows) if isinstance(self._rows, Tensor) else self._rows._map(fn)
        return self.with_rows(rows, self._lengths, self._device)

    def _map_with(self, fn: Callable[[Tensor, A], Tensor], argument: A, device: torch.device | None) -> Self:
        rows, lengths = self._rows, self._lengths
        rows = fn(rows, argument) if isinstance(rows, Tensor) else rows._map_with(fn, argument, device)
        if device is not None and isinstance(lengths, Tensor) and lengths.device != device:
            lengths = lengths.to(device)
        return self.with_rows(rows, lengths, device)

    def _rearrange(self, fn: Callable[[Tensor, A], Tensor], argument: A, batch_size: Size) -> Self:
        return rearrange_ragged(self, "", fn, self, argument, batch_size)

    def _zip(self, fn: Callable[[Tensor, Tensor], Tensor], other: Any) -> Self:
        right: Self = other
        return zip_ragged(self, "", fn, self, right)

    def _index_put(self, index: Any, other: Any) -> None:
        put_ragged(self, "", self, index, other)

    def _check_compatible(self, other: Any) -> None:
        if isinstance(self._rows, Stored):
            self._rows._check_compatible(other._rows)

    def _join(self, fn: Join, items: Sequence[Any], batch_size: Size) -> Self:
        objects: Sequence[Self] = items
        return join_ragged(self, "", fn, objects, batch_size)

    def _split(
        self, fn: Callable[[Tensor, A], Sequence[Tensor]], argument: A, batch_sizes: Sequence[Size]
    ) -> Sequence[Self]:
        return part_ragged(self, "", fn, self, argument, batch_sizes)

    def _leaves(self) -> list[Tensor]:
        return [self._rows] if isinstance(self._rows, Tensor) else self._rows._leaves()

    def _field_values(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return (self._rows, self._lengths), ()

    def _to_dict(self) -> dict[str, object]:
        rows = self._rows._to_dict() if isinstance(self._rows, Stored) else self._rows
        return {"rows": rows, "lengths": self._lengths}

    def with_rows(self, rows: Rows, lengths: Tensor, device: torch.device | None) -> Self:
        """The same items with other rows, and lengths that may be elsewhere.

        Raises:
            ValueError: there are more rows or fewer.
        """
        old = self._rows
        if isinstance(rows, Tensor) and isinstance(old, Tensor) and not (rows.dim() and rows.size(0) == old.size(0)):
            raise ValueError(
                f"{type(self).__name__}.rows: the lengths say that there are {len(old)} rows, which cannot become "
                f"those of the shape {list(rows.shape)}"
            )
        out = allocate_like(self)._fill(rows, lengths, self._batch_size, device, self._names)
        out._starts = None if is_compiling() else self._starts  # a graph would be specialised on them
        return out

    def orders(self, arrange: Callable[[Tensor, A], Sequence[Tensor]], argument: A) -> list[Any]:
        """What a function makes of the numbers of the items, each as a list; in a graph as a tensor of one dimension."""
        if self.starts() is not None:
            return _read(arrange, on_cpu(argument), self._lengths.shape)
        numbers = torch.arange(self._lengths.numel(), device=self._lengths.device).view(self._lengths.shape)
        return [each.reshape(-1) for each in arrange(numbers, argument)]

    def taken(self, order: Any, lengths: Tensor, batch_size: Size) -> Self:
        """The items with these numbers, whose lengths they are. Rows are a view where the items follow one another."""
        if self.starts() is not None and order == list(range(first := order[0] if order else 0, first + len(order))):
            return self.following(first, first + len(order), lengths, batch_size)
        rows = picked(self._rows, self.row_numbers(order, lengths))
        return allocate_like(self)._fill(rows, lengths, batch_size, self._device)

    def following(self, first: int, stop: int, lengths: Tensor, batch_size: Size) -> Self:
        """The items from one number to before another, whose lengths they are, where numbers can be read: a view."""
        starts = cast("list[int]", self.starts())[first : stop + 1]
        begin = starts[0]
        out = allocate_like(self)._fill(between(self._rows, begin, starts[-1]), lengths, batch_size, self._device)
        out._starts = [start - begin for start in starts] if begin else starts
        return out

    def row_numbers(self, order: Any, lengths: Tensor) -> Tensor:
        """The numbers of the rows of some items, whose lengths they are."""
        starts, sizes, total = self.starts(), lengths.reshape(-1), None
        if starts is None:
            flat = self._lengths.reshape(-1)
            shifts = (flat.cumsum(0) - flat)[order] - (sizes.cumsum(0) - sizes)
        else:
            ends = [0, *accumulate([starts[at + 1] - starts[at] for at in order])]
            total = ends[-1]
            begins = [starts[at] - end for at, end in zip(order, ends, strict=False)]
            shifts = tensor_of(begins, sizes.device)
        numbers = torch.repeat_interleave(shifts, sizes, output_size=total)
        return numbers + torch.arange(numbers.shape[0], device=sizes.device)

    def selected(self, where: str, index: Any) -> Tensor:
        """The numbers of the rows of the items that an index selects."""
        self.refuse_unknown(where)
        return self.row_numbers(self.orders(lambda numbers, at: [numbers[at]], index)[0], self._lengths[index])


@with_real_tensors
def _read(arrange: Callable[[Tensor, A], Sequence[Tensor]], argument: A, size: Size) -> list[Any]:
    numbers = torch.arange(size.numel(), device="cpu").view(size)
    found = [each.reshape(-1) for each in arrange(numbers, argument)]
    if any(map(is_batchedtensor, found)):
        raise TypeError("vmap cannot map over Ragged items, which are of different lengths; use .padded()")
    return [each.tolist() for each in found]


def _where(self: Stored, name: str) -> str:
    return label(self, name) if name else type(self).__name__


def _refuse_mark(where: str, fn: object, argument: object, value: RaggedStorage) -> None:
    """Refuse a function that does not rearrange items."""
    what = effect_on_items(fn, argument, value._batch_size)
    value.refuse_unknown(where)
    if what is not None:
        said = "computed along dimensions" if what == "kept" else what
        advice = "reduce the rows of each item with .reduce(...), or compute with .rows"
        raise TypeError(f"{where} is Ragged, and its items cannot be {said}; {advice}")


def _both(self: Stored, name: str, left: R, right: R) -> tuple[Any, Any] | None:
    """Two values of a field, whose rows are of one class; None where both are None."""
    present = all_or_none(self, name, [left, right])
    if present is None:
        return None
    mine, theirs = present
    assert mine is not None and theirs is not None
    if type(mine) is not type(theirs):
        of = f"{type(mine._rows).__name__} and {type(theirs._rows).__name__}"
        raise TypeError(f"{_where(self, name)}: expected rows of one class, got {of}")
    return mine, theirs


# What generated code calls


def ragged(
    self: Stored,
    name: str,
    cls: type[Any],
    value: object,
    batch_size: Size,
    device: torch.device | None,
    shape: tuple[str, str] | None = None,
) -> Any:
    """The object to store in a field: a `Ragged`, whose class stands above this file.

    Args:
        cls: The class of the rows, `Tensor` or a TensorClass.
        value: A Ragged; the rows of each item, in lists as deep as there are batch dimensions; a jagged nested tensor.
        batch_size: The owner's, with which that of the Ragged starts.
        device: The owner's; None leaves the rows where they are.
        shape: Dtype and dimensions of the rows, as the annotation says them.

    Raises:
        TypeError: the rows are of another class.
        ValueError: there are more items or fewer, or a shape or dtype is another.
    """
    where = label(self, name)
    if cast("type", cls) is Undeclared:
        cls = cast(Any, nested_class(type(self), name)).rows_class
    found: RaggedStorage = value if isinstance(value, RaggedStorage) else from_items(where, cls, value, batch_size)
    rows = found._rows
    if not isinstance(rows, cls):
        raise TypeError(f"{where}: expected Ragged[{cls.__name__}], got Ragged[{type(rows).__name__}]")
    if found._batch_size[: len(batch_size)] != batch_size:
        raise ValueError(
            f"{where}: expected items for the batch size {list(batch_size)}, got {list(found._batch_size)}"
        )
    if shape is not None and not fits_alone(rows, *shape):
        words = shape[1].split()
        turned = len(words) == rows.dim() == 2 and words[1].isdecimal() and rows.shape[0] % int(words[1]) == 0
        raise ValueError(
            f'{where}: expected {shape[0]}[Tensor, "{shape[1]}"] for each item, got rows of dtype {rows.dtype} and shape '
            f"{list(rows.shape)}{f'; transpose items of shape [{words[1]}, {words[0]}]' if turned else ''}"
        )
    return found if device is None or found._device == device else found._map_with(Tensor.to, device, device)


def rearrange_ragged(
    self: Stored, name: str, fn: Callable[[Tensor, A], Tensor], value: R, argument: A, batch_size: Size
) -> R:
    """The items rearranged as `fn(tensor, argument)` rearranges tensors; None where the field is None.

    Raises:
        TypeError: it does not rearrange them.
    """
    if value is None:
        return value
    size = batch_size + value._batch_size[len(self._batch_size) :]
    starts = value.starts()
    index: Any = argument
    if cast(object, fn) is getitem and len(value._batch_size) == 1 and starts is not None:
        # The usual indexes, in a few steps.
        if type(index) is int:
            at = index if index >= 0 else index + len(starts) - 1
            return value.following(at, at + 1, value._lengths[index], size)
        if type(index) is slice and index.step in (None, 1):
            first, stop, _ = index.indices(len(starts) - 1)
            return value.following(first, max(first, stop), value._lengths[index], size)
    _refuse_mark(_where(self, name), fn, argument, value)
    if fn is view_tensor:  # the order of items has no strides that could forbid a view
        fn = cast("Callable[[Tensor, A], Tensor]", reshape_tensor)
    order = value.orders(lambda numbers, given: [fn(numbers, given)], argument)[0]
    return value.taken(order, fn(value._lengths, argument), size)


def zip_ragged(self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: R, right: R) -> R:
    """Apply `fn` to the rows of two objects, whose items have the same lengths; None in both or in neither.

    Raises:
        ValueError: the lengths differ.
    """
    both = _both(self, name, left, right)
    if both is None:
        return left
    mine, theirs = both
    refuse_other_lengths(_where(self, name), mine._lengths, theirs._lengths)
    rows = fn(mine._rows, theirs._rows) if isinstance(mine._rows, Tensor) else mine._rows._zip(fn, theirs._rows)
    return cast("R", mine.with_rows(rows, mine._lengths, mine._device))


def put_ragged(self: Stored, name: str, target: R, index: object, value: R) -> None:
    """Write items over others, whose lengths have been compared; None in both objects or in neither."""
    both = _both(self, name, target, value)
    if both is None:
        return
    mine, theirs = both
    numbers = mine.selected(_where(self, name), index)
    rows = mine._rows if isinstance(mine._rows, Tensor) else picked(mine._rows, numbers)
    pairs = [(rows, theirs._rows)] if isinstance(rows, Tensor) else leaf_pairs(rows, theirs._rows)
    for one, other in pairs:
        if one.shape[1:] != other.shape[1:]:
            shapes = f"{['n', *one.shape[1:]]}, got {['n', *other.shape[1:]]}"
            raise ValueError(f"{_where(self, name)}: written items: expected rows of the shape {shapes}")
    if isinstance(mine._rows, Tensor):
        mine._rows[numbers] = theirs._rows.to(mine._rows.dtype)
    else:
        mine._rows._index_put(numbers, theirs._rows)


def join_ragged(self: Stored, name: str, fn: Join, items: Sequence[R], batch_size: Size) -> R:
    """The items of several objects joined, of any lengths; None in all objects or in none."""
    present: Any = all_or_none(self, name, items)
    if present is None:
        return items[0]
    first = present[0]
    for item in present:
        _both(self, name, first, item)
    lengths = [item._lengths for item in present]
    starts = [item.starts() for item in present]
    size = batch_size + first._batch_size[len(self._batch_size) :]
    every = allocate_like(first)._fill(joined([item._rows for item in present]), first._lengths, size, first._device)
    if None not in starts:
        every._starts = [0, *accumulate(end - start for each in starts for start, end in pairwise(each))]
    in_order = fn in (torch.cat, torch.stack)  # along the first dimension
    if not in_order:
        every.refuse_unknown(_where(self, name))
    every._lengths = fn(lengths) if in_order else torch.cat([each.reshape(-1) for each in lengths])
    if in_order:
        return cast("R", every)

    def arrange(numbers: Tensor, sizes: list[int]) -> Sequence[Tensor]:
        parts = torch.split_with_sizes(numbers, sizes)
        return [fn([part.view(each.shape) for part, each in zip(parts, lengths, strict=True)])]

    return cast("R", every.taken(every.orders(arrange, [each.numel() for each in lengths])[0], fn(lengths), size))


def part_ragged(
    self: Stored,
    name: str,
    fn: Callable[[Tensor, A], Sequence[Tensor]],
    value: R,
    argument: A,
    batch_sizes: Sequence[Size],
) -> Sequence[R]:
    """The pieces of a field: None for each where it is None.

    Raises:
        TypeError: `fn` does not take the items apart.
    """
    if value is None:
        return [value] * len(batch_sizes)
    _refuse_mark(_where(self, name), fn, argument, value)
    tail = value._batch_size[len(self._batch_size) :]
    parts = zip(value.orders(fn, argument), fn(value._lengths, argument), batch_sizes, strict=False)
    return [cast("R", value.taken(order, lengths, size + tail)) for order, lengths, size in parts]
