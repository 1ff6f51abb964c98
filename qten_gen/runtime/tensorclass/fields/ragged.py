"""Storage of `Ragged`: items of different lengths, as their rows behind one another and a length for each item.

Whatever rearranges a batch is done to the numbers of its items, and then the rows are taken in the order of these numbers: as a
view where the items follow one another. The lengths say where rows belong. They move and are saved with the rows, and nothing
computes with them; they are never written to, so that objects share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from operator import getitem
from typing import Any, NoReturn, Self, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._C._functorch import is_batchedtensor
from torch.compiler import is_compiling

from ...declaring.loading import Undeclared
from ..core.construction import DeviceLike, as_device
from ..core.contents import allocate_like, nested_class
from ..core.dimension_names import NamesLike
from ..core.dimension_names import names as checked_names
from ..core.error_text import describe, label
from ..core.locks import lock as lock_object
from ..core.locks import refuse_other
from ..core.sizes import BatchSize, reshape_tensor, view_tensor
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from .annotated_shapes import fits_alone
from .per_item import effect_on_items, on_cpu
from .ragged_rows import Rows, between, count, described, device_of, dims, from_items, joined, row_numbers, taken
from .tensor import Join, all_or_none

A = TypeVar("A")
R = TypeVar("R", bound="RaggedStorage | None")
S = TypeVar("S", bound="RaggedStorage")


class RaggedStorage(Stored):
    """The part of `Ragged` that other classes have generated: slots and primitives."""

    __slots__ = ("_lengths", "_rows", "_starts")

    _rows: Rows
    _lengths: Tensor
    _starts: list[int] | None
    """Where each item begins among the rows, and the end of the last; None as long as nobody has read the lengths."""

    _fingerprint = "ragged"
    __structure__ = ("lengths",)

    rows = property(lambda self: self._rows, lambda self, value: _set_rows(self, value))
    lengths = property(lambda self: self._lengths, lambda self, value: _refuse_lengths(self))

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
        if not isinstance(rows, (Tensor, Stored)) or not dims(rows):
            raise TypeError(
                f"Ragged: expected a Tensor or an object of a TensorClass, with a dimension for the rows, got {described(rows)}"
            )
        place = device_of(rows)
        given = count(rows) if lengths is None else lengths
        sizes = given if isinstance(given, Tensor) else torch.tensor(given, device=place)
        if sizes.dtype not in _INTEGERS and sizes.numel():
            raise TypeError(f"Ragged: expected integers for the lengths, got {describe(given)}")
        sizes = sizes.to(place, torch.int64)
        if batch_size is not None and as_batch_size(batch_size) not in (Size(), sizes.shape):
            raise ValueError(f"Ragged: expected lengths of shape {as_batch_size(batch_size)}, got {list(sizes.shape)}")
        self._fill(rows, sizes, sizes.shape, None, checked_names(self, names, sizes.shape))
        _refuse_sizes(self.starts(), count(rows))
        if device is not None:
            moved = self._map_with(Tensor.to, as_device(device), as_device(device))
            self._rows, self._lengths, self._device = moved._rows, moved._lengths, moved._device
        if lock:
            lock_object(self)

    def starts(self) -> list[int] | None:
        """Where each item begins among the rows, and the end of the last one; None where that cannot be read, as in a graph."""
        if is_compiling():
            return None
        if self._starts is None and type(self._lengths) is Tensor and not self._lengths.is_meta:
            self._starts = [0, *accumulate(self._lengths.reshape(-1).tolist())]
        return self._starts

    def _fill(self, rows: Rows, lengths: Any, batch_size: Size, device: torch.device | None, names: Any = None) -> Self:
        self._rows, self._lengths, self._starts = rows, lengths, None
        self._batch_size, self._device, self._names, self._lock = batch_size, device, names, None
        return self

    def _assign(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Self:
        lengths = values[1]
        if isinstance(lengths, Tensor) and lengths.shape != batch_size:
            raise ValueError(
                f"{type(self).__name__}: its items are of batch size {list(lengths.shape)}, which cannot become "
                f"{list(batch_size)}"
            )
        return self._fill(values[0], lengths, batch_size, device)

    def _map(self, fn: Callable[[Tensor], Tensor]) -> Self:
        rows: Rows = fn(self._rows) if isinstance(self._rows, Tensor) else self._rows._map(fn)
        return _like(self, rows, self._lengths, self._device)

    def _map_with(self, fn: Callable[[Tensor, A], Tensor], argument: A, device: torch.device | None) -> Self:
        rows, lengths = self._rows, self._lengths
        rows = fn(rows, argument) if isinstance(rows, Tensor) else rows._map_with(fn, argument, device)
        if device is not None and isinstance(lengths, Tensor) and lengths.device != device:
            lengths = lengths.to(device)
        return _like(self, rows, lengths, device)

    def _rearrange(self, fn: Callable[[Tensor, A], Tensor], argument: A, batch_size: Size) -> Self:
        return rearrange_ragged(self, "", fn, self, argument, batch_size)

    def _zip(self, fn: Callable[[Tensor, Tensor], Tensor], other: Any) -> Self:
        right: Self = other
        return zip_ragged(self, "", fn, self, right)

    def _index_put(self, index: Any, value: Any) -> None:
        put_ragged(self, "", self, index, value)

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


_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def _refuse_sizes(starts: list[int] | None, total: int) -> None:
    """Refuse lengths that are not those of the rows, where they can be read."""
    if starts is None:
        return
    if any(end < start for start, end in pairwise(starts)):
        raise ValueError("Ragged: expected lengths that are not negative")
    if starts[-1] != total:
        raise ValueError(f"Ragged: the lengths add up to {starts[-1]}, and there are {total} rows")


def _set_rows(self: RaggedStorage, value: Rows) -> None:
    """Set the rows: as many, of the same class."""
    if self._lock is not None:
        refuse_other(self, "rows", value)
    if not isinstance(value, type(self).rows_class) or count(value) != count(self._rows):  # type: ignore[attr-defined] # of `Ragged`
        raise ValueError(f"{type(self).__name__}.rows: expected {count(self._rows)} rows, got {described(value)}")
    self._rows = value if self._device is None else value.to(self._device)


def _refuse_lengths(self: RaggedStorage) -> NoReturn:
    raise AttributeError(f"the lengths of a {type(self).__name__} cannot be set; construct another one")


def _made(
    like: R,
    rows: Rows,
    lengths: Tensor,
    batch_size: Size,
    starts: list[int] | None,
) -> R:
    """An object of the same class and device; its dimensions have no names."""
    assert like is not None
    out = allocate_like(like)._fill(rows, lengths, batch_size, like._device)
    out._starts = starts
    return out


def _like(self: S, rows: Rows, lengths: Tensor, device: torch.device | None) -> S:
    """An object of the same items, with other rows.

    Raises:
        ValueError: there are more rows or fewer.
    """
    if isinstance(rows, Tensor) and isinstance(self._rows, Tensor) and rows.shape[:1] != self._rows.shape[:1]:
        raise ValueError(
            f"{type(self).__name__}.rows: the number of rows is {self._rows.shape[0]}, as the lengths say, and cannot "
            f"become that of the shape {list(rows.shape)}"
        )
    out = allocate_like(self)._fill(rows, lengths, self._batch_size, device, self._names)
    out._starts = self._starts
    return out


def _numbers(ragged: RaggedStorage, first: int, readable: bool) -> Tensor:
    """The numbers of the items, as these are arranged; in main memory where they are read."""
    lengths = ragged._lengths
    device = torch.device("cpu") if readable else lengths.device
    return torch.arange(first, first + lengths.numel(), device=device).view(lengths.shape)


def _where(self: Stored, name: str) -> str:
    return label(self, name) if name else type(self).__name__


def _refuse_mark(where: str, fn: object, argument: object, batch_size: Size) -> None:
    """Refuse a function that does not rearrange items."""
    what = effect_on_items(fn, argument, batch_size)
    if what is not None:
        said = "computed along dimensions" if what == "kept" else what
        raise TypeError(
            f"{where} is Ragged, and its items cannot be {said}; reduce the rows of each item with .reduce(...), or "
            "compute with .rows"
        )


# What generated code calls


def ragged(
    self: Stored,
    name: str,
    cls: type[Any],
    value: object,
    batch_size: Size,
    device: torch.device | None,
    shape: tuple[str, str] | None = None,
) -> RaggedStorage:
    """The object to store in a field.

    Args:
        cls: The class of the rows, `Tensor` or a TensorClass.
        value: A Ragged; the rows of each item, in lists as deep as there are batch dimensions; a jagged nested tensor.
        batch_size: The owner's, with which that of the Ragged starts.
        device: The owner's; None leaves the rows where they are.
        shape: Dtype and dimensions of the rows, as the annotation says them.

    Raises:
        TypeError: the rows are of another class or dtype.
        ValueError: there are more items or fewer, or a shape is another.
    """
    where = label(self, name)
    if cast("type", cls) is Undeclared:
        cls = cast(Any, nested_class(type(self), name)).rows_class
    found = value if isinstance(value, RaggedStorage) else from_items(where, cls, value, batch_size)
    if not isinstance(found._rows, cls):
        raise TypeError(f"{where}: expected Ragged[{cls.__name__}], got Ragged[{type(found._rows).__name__}]")
    if found._batch_size[: len(batch_size)] != batch_size:
        raise ValueError(
            f"{where}: expected items for the batch size {list(batch_size)}, got {list(found._batch_size)}"
        )
    if shape is not None and not fits_alone(found._rows, *shape):
        raise ValueError(
            f'{where}: expected {shape[0]}[Tensor, "{shape[1]}"] for each item, got rows of dtype {found._rows.dtype} and shape '
            f"{list(found._rows.shape)}{_transpose(found._rows, shape[1])}"
        )
    if device is not None and found._device != device:
        found = found._map_with(Tensor.to, device, device)
    return found


def _transpose(rows: Tensor, dims: str) -> str:
    """Advice about items whose rows may be their last dimension."""
    words = dims.split()
    turned = len(words) == rows.dim() == 2 and words[1].isdecimal() and rows.shape[0] % int(words[1]) == 0
    return f"; transpose items of shape [{words[1]}, {words[0]}]" if turned else ""


def rearrange_ragged(
    self: Stored, name: str, fn: Callable[[Tensor, A], Tensor], value: R, argument: A, batch_size: Size
) -> R:
    """The items rearranged as `fn(tensor, argument)` rearranges tensors; None where the field is None.

    Raises:
        TypeError: it does not rearrange them.
    """
    if value is None:
        return value
    tail = value._batch_size[len(self._batch_size) :]
    size = batch_size + tail if tail else batch_size
    starts = value.starts()
    if cast(object, fn) is getitem and len(value._batch_size) == 1 and starts is not None:
        found = _one_or_slice(value, argument, size, starts)
        if found is not None:
            return cast("R", found)
    _refuse_mark(_where(self, name), fn, argument, value._batch_size)
    if fn is view_tensor:  # the order of items has no strides that could forbid a view
        fn = cast("Callable[[Tensor, A], Tensor]", reshape_tensor)
    order = fn(_numbers(value, 0, starts is not None), on_cpu(argument) if starts is not None else argument)
    if is_batchedtensor(order):
        _refuse_vmap(_where(self, name))
    lengths = fn(value._lengths, argument)
    rows, new = taken(value._rows, value._lengths, starts, order, lengths)
    return _made(value, rows, lengths, size, new)


def _refuse_vmap(where: str) -> NoReturn:
    raise TypeError(f"{where} is Ragged, and vmap cannot map over items of different lengths; use a loop, or .padded()")


def _one_or_slice(value: Any, argument: object, size: Size, starts: list[int]) -> Any:
    """One item, or those of a slice, in a few steps; None for any other index."""
    if type(argument) is int:
        at = argument if argument >= 0 else argument + len(starts) - 1
        begin, end = starts[at], starts[at + 1]
        return _made(value, between(value._rows, begin, end), value._lengths[argument], size, [0, end - begin])
    if type(argument) is slice and argument.step in (None, 1):
        first, stop, _ = argument.indices(len(starts) - 1)
        stop = max(first, stop)
        begin = starts[first]
        rows = between(value._rows, begin, starts[stop])
        return _made(value, rows, value._lengths[argument], size, [start - begin for start in starts[first : stop + 1]])
    return None


def zip_ragged(self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: R, right: R) -> R:
    """Apply `fn` to the rows of two objects, whose items have the same lengths; None in both or in neither.

    Raises:
        ValueError: the lengths differ.
    """
    if left is None or right is None:
        all_or_none(self, name, [left, right])
        return left
    _refuse_other_class(self, name, left, right)
    _refuse_other_lengths(_where(self, name), left._lengths, right._lengths, left.starts(), right.starts())
    mine, theirs = left._rows, right._rows
    rows = fn(mine, theirs) if isinstance(mine, Tensor) else mine._zip(fn, theirs)
    return cast("R", _like(cast("RaggedStorage", left), rows, left._lengths, left._device))


def _refuse_other_class(self: Stored, name: str, left: RaggedStorage, right: RaggedStorage) -> None:
    if type(left) is not type(right):
        where, of = _where(self, name), (type(left._rows).__name__, type(right._rows).__name__)
        raise TypeError(f"{where}: expected rows of one class, got {of[0]} and {of[1]}")


def _refuse_other_lengths(
    where: str, mine: Tensor, theirs: Tensor, left: list[int] | None, right: list[int] | None
) -> None:
    """Refuse items of different lengths. A graph refuses them when it runs."""
    if mine is theirs:
        return
    if left is None or right is None:
        torch.ops.aten._assert_async.msg((mine == theirs).all(), f"{where}: expected items of the same lengths")
    elif left != right:
        one, other = ([end - start for start, end in pairwise(starts)] for starts in (left, right))
        at = next(at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        raise ValueError(
            f"{where}: expected items of the same lengths in both, got {one[at]} and {other[at]} rows in item {at}"
        )


def put_ragged(self: Stored, name: str, target: R, index: object, value: R) -> None:
    """Write items over others of the same lengths; None in both objects or in neither.

    Raises:
        ValueError: the lengths differ.
    """
    if target is None or value is None:
        all_or_none(self, name, [target, value])
        return
    _refuse_other_class(self, name, target, value)
    order, sizes, numbers = _selected(target, index)
    starts, given, new = target.starts(), value.starts(), None
    if starts is not None:
        new = [0, *accumulate([starts[at + 1] - starts[at] for at in order.reshape(-1).tolist()])]
    _refuse_other_lengths(f"{_where(self, name)}: written items", sizes, value._lengths, new, given)
    if isinstance(target._rows, Tensor):
        target._rows[numbers] = value._rows.to(target._rows.dtype)
    else:
        target._rows._index_put(numbers, value._rows)


def _selected(target: RaggedStorage, index: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The numbers of the items that an index selects, their lengths, and the numbers of their rows."""
    starts = target.starts()
    order = _numbers(target, 0, starts is not None)[index if starts is None else on_cpu(index)]
    sizes = target._lengths[index]
    return order, sizes, row_numbers(target._lengths.reshape(-1), order.reshape(-1), sizes, starts)


def fill_ragged(target: RaggedStorage, index: object, number: Any) -> None:
    """Write a number into the rows of the items that an index selects."""
    numbers = _selected(target, index)[2]
    for leaf in target._leaves():
        leaf[numbers] = number


def join_ragged(self: Stored, name: str, fn: Join, items: Sequence[R], batch_size: Size) -> R:
    """The items of several objects joined, of any lengths; None in all objects or in none."""
    present = all_or_none(self, name, cast("Sequence[RaggedStorage | None]", items))
    if present is None:
        return items[0]
    first = present[0]
    for item in present:
        _refuse_other_class(self, name, first, item)
    tail = first._batch_size[len(self._batch_size) :]
    starts = [item.starts() for item in present]
    known = [each for each in starts if each is not None]
    readable = len(known) == len(starts)
    numbers: list[Tensor] = []
    before = 0
    for item in present:
        numbers.append(_numbers(item, before, readable))
        before += item._lengths.numel()
    every: list[int] | None = None
    if readable:
        ends = [0, *accumulate(each[-1] for each in known)]
        every = [0, *(end + start for each, end in zip(known, ends, strict=False) for start in each[1:])]
    lengths = fn([item._lengths for item in present])
    flat = torch.cat([item._lengths.reshape(-1) for item in present]) if every is None else lengths
    rows, new = taken(joined([item._rows for item in present]), flat, every, fn(numbers), lengths)
    return cast("R", _made(first, rows, lengths, batch_size + tail, new))


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
    _refuse_mark(_where(self, name), fn, argument, value._batch_size)
    tail = value._batch_size[len(self._batch_size) :]
    starts = value.starts()
    orders, lengths = fn(_numbers(value, 0, starts is not None), argument), fn(value._lengths, argument)
    found: list[R] = []
    for order, sizes, size in zip(orders, lengths, batch_sizes, strict=False):
        rows, new = taken(value._rows, value._lengths, starts, order, sizes)
        found.append(_made(value, rows, sizes, size + tail, new))
    return found
