"""`PerItem[T]`: one Python value for each item of a batch.

The values stand in a pool, and a tensor says at which position of the pool the value of each item is. So whatever rearranges the
tensors of an object rearranges these positions with the same call, and nothing is copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._C._functorch import is_batchedtensor
from torch.compiler import is_compiling

from ..core.error_text import describe, label
from ..core.real_tensors import with_real_tensors
from ..core.sizes import BatchSize
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from ..core.tensor_shapes import reshape_tensor, view_tensor
from .optional import Join, all_or_none

if TYPE_CHECKING:
    from qten_gen_typing import PerItemField

    from ..core.indices import Index
else:
    PerItemField = Generic

P = TypeVar("P", bound="PerItem[Any] | None")
"""The items of a field: of two overloads, pyright takes the wrong one among the arguments of `zip`."""
T = TypeVar("T")
A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., object])


class Pool(Generic[T]):
    """Values that several PerItem share: in an object of its own, of which a graph that only passes it on asks nothing."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[T, ...]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)


class PerItem(PerItemField[T]):
    """Python values, one for each item of a batch. It cannot be changed.

        class Batch(TensorClass):
            tokens: Tensor
            titles: PerItem[str]

        batch = Batch(torch.ones(2, 7), ["first", "second"], batch_size=2)
        batch.titles.tolist(), batch[1].titles.item()

    It is indexed and iterated over like a tensor, and always gives a `PerItem`: one without batch dimensions has one value, its
    `item()`. Two are equal where their batch sizes and values are.

    >>> titles = PerItem(["first", "second", "third"])
    >>> titles[1:]
    PerItem(['second', 'third'])

    Args:
        values: One for each item; row by row where there are several batch dimensions.
        batch_size: As many items as there are values; one dimension by default.

    Raises:
        ValueError: there are more or fewer values than items.
    """

    __slots__ = ("_pool", "_positions")

    _pool: Pool[T]
    _positions: Tensor

    def __init__(self, values: Iterable[T], batch_size: BatchSize = None) -> None:
        pool = Pool(tuple(values))
        size = Size((len(pool),)) if batch_size is None else as_batch_size(batch_size)
        if len(pool) != prod(size):
            raise ValueError(f"PerItem: expected {prod(size)} values for batch size {list(size)}, got {len(pool)}")
        self._pool = pool
        self._positions = _count(size)

    @property
    def batch_size(self) -> Size:
        """The shape that the values are arranged in."""
        return self._positions.shape

    def item(self) -> T:
        """The only value.

        >>> PerItem(["first", "second"])[1].item()
        'second'

        Raises:
            ValueError: there is none, or there are several.
        """
        found = self.values()
        if len(found) != 1:
            raise ValueError(f"item(): expected one value, there are {len(found)}")
        return found[0]

    def values(self) -> tuple[T, ...]:
        """All values, row by row where there are several batch dimensions.

        >>> PerItem(["a", "b", "c", "d"], batch_size=[2, 2]).values()
        ('a', 'b', 'c', 'd')
        """
        positions = _numbers(_row(self._positions))
        pool = self._pool.values
        return tuple([pool[i] for i in positions])

    def tolist(self) -> T | list[Any]:  # a list of lists, as deep as there are batch dimensions
        """The values in lists, one in the other for each batch dimension; without batch dimensions the value itself.

        >>> PerItem(["a", "b", "c", "d"], batch_size=[2, 2]).tolist()
        [['a', 'b'], ['c', 'd']]
        """
        return cast("T | list[Any]", self._picked(_numbers(self._positions)))

    def _picked(self, positions: Any) -> object:
        return self._pool.values[positions] if isinstance(positions, int) else [self._picked(one) for one in positions]

    def __len__(self) -> int:
        if not self.batch_size:
            raise TypeError("a PerItem without batch dimensions has no len(); its value is .item()")
        return self.batch_size[0]

    def __getitem__(self, index: Index) -> PerItem[T]:
        return of_pool(self._pool, _chosen(self._positions, index))

    def __iter__(self) -> Iterator[PerItem[T]]:
        if not self.batch_size:
            raise TypeError("a PerItem without batch dimensions cannot be iterated over; its value is .item()")
        return (self[at] for at in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PerItem):
            return NotImplemented
        return self is other or (self.batch_size == other.batch_size and self.values() == other.values())

    def __hash__(self) -> int:
        return hash((self.batch_size, self.values()))

    def __repr__(self) -> str:
        if is_batchedtensor(self._positions):
            return "PerItem(...)"
        if self._positions.numel() <= 8:
            return f"PerItem({self.tolist()!r})"
        few = ", ".join(repr(value) for value in of_pool(self._pool, _chosen(_row(self._positions), slice(3))).values())
        return f"PerItem({few}, ..., batch_size={list(self.batch_size)})"

    def __reduce__(self) -> tuple[type[PerItem[T]], tuple[tuple[T, ...], tuple[int, ...]]]:
        return PerItem, (self.values(), tuple(self.batch_size))


@with_real_tensors
def _count(size: Size) -> Tensor:
    """A position for each item."""
    return torch.arange(prod(size), device="cpu").reshape(size)


@with_real_tensors
def _row(positions: Tensor) -> Tensor:
    return positions.reshape(-1)


@with_real_tensors
def _chosen(positions: Tensor, index: Index) -> Tensor:
    return positions[index]


@with_real_tensors
def _numbers(positions: Tensor) -> Any:
    """Positions as integers, in lists as deep as there are dimensions.

    Raises:
        TypeError: vmap hides which item is which.
    """
    if is_batchedtensor(positions):
        raise TypeError(f"the values of a PerItem field cannot be read {_UNREADABLE}")
    return positions.tolist()


_UNREADABLE = "inside of vmap, nor where tree_map has changed the batch size tensor by tensor"


def of_pool(pool: Pool[T], positions: Tensor) -> PerItem[T]:
    """The values of a pool at some positions, arranged as these are."""
    made: PerItem[T] = object.__new__(PerItem)
    made._pool = pool
    made._positions = positions
    return made


class LostItems(PerItem[T]):
    """The mark, in a tree that was mapped leaf by leaf, for values which it cannot arrange; see `fitted`."""

    __slots__ = ("original",)

    def __init__(self, original: PerItem[T]) -> None:
        self.original = original

    @property
    def _positions(self) -> Tensor:  # type: ignore[override] # never set
        raise TypeError(f"the values of a PerItem field cannot be read {_UNREADABLE}")

    def __repr__(self) -> str:
        return "PerItem(...)"


def fitted(value: object, batch_size: Size) -> object:
    """The values for a tree of this batch size: those of the tree that it was made from, where that has the same."""
    known = original(value)
    return known if not isinstance(known, PerItem) or known.batch_size == batch_size else LostItems(known)


def original(value: object) -> object:
    """The values that a tree was made with; other static values as they are."""
    return value.original if isinstance(value, LostItems) else value


def refuse_unfit(self: Stored, batch_size: Size, static: Sequence[object]) -> None:
    """Raise the error of PerItem fields whose values are for another batch size; `static` is the second part of `_field_values`.

    Raises:
        ValueError: there is one.
    """
    for name, value in zip(self._static, static, strict=True):
        if name in self._per_item and value is not None:
            per_item(self, name, value, batch_size)


def items_become(what: str | Callable[[Any, Size], str]) -> Callable[[F], F]:
    """Say of a function for `_rearrange` that it does not rearrange, but what it does to items.

    `"kept"` leaves the values as they are; anything else ends the message that they cannot be `"summed up"`. A function that
    tells it is given the argument of the other, and the batch size of the items.
    """

    def decorate(fn: F) -> F:
        setattr(fn, _MARK, what)
        return fn

    return decorate


_MARK = "items_become"


# What generated code calls


def per_item(self: Stored, name: str, value: object, batch_size: Size) -> PerItem[Any]:
    """The values to store in a field: a PerItem of the batch size, or lists as deep as it has dimensions.

    Raises:
        TypeError: a list is expected and something else found.
        ValueError: the batch size is another, or a list has another length.
    """
    if isinstance(value, PerItem):
        if not isinstance(value, LostItems) and value.batch_size != batch_size:
            raise ValueError(
                f"{label(self, name)}: expected values for batch size {list(batch_size)}, got {list(value.batch_size)}"
            )
        return value
    library = sys.modules.get("tensordict")
    if library is not None and isinstance(value, getattr(library, "NonTensorStack", ())):
        value = cast(Any, value).tolist()
    elif library is not None and isinstance(value, getattr(library, "NonTensorData", ())):
        return PerItem([cast(Any, value).data] * batch_size.numel(), batch_size)
    return PerItem(_flat(self, name, value, batch_size), batch_size)


def _flat(self: Stored, name: str, value: object, batch_size: Size) -> list[object]:
    """The values of lists in a row: one list in the other for each batch dimension, each as long as its dimension."""
    if not batch_size:
        return [value]
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(
            f"{label(self, name)}: expected a list of {batch_size[0]} values for batch size {list(batch_size)}, "
            f"got {describe(value)}"
        )
    if len(value) != batch_size[0]:
        raise ValueError(f"{label(self, name)}: expected {batch_size[0]} values in a list, got {len(value)}")
    return [one for part in value for one in _flat(self, name, part, batch_size[1:])]


@with_real_tensors
def rearrange_items(
    self: Stored, name: str, fn: Callable[[Tensor, A], Tensor], value: PerItem[T], argument: A
) -> PerItem[T]:
    """The values rearranged as `fn(tensor, argument)` rearranges tensors.

    Raises:
        TypeError: it does not rearrange them.
    """
    what = getattr(fn, _MARK, None)
    if what is not None:
        said = what if isinstance(what, str) else what(argument, value.batch_size)
        if said == "kept":
            return value
        raise TypeError(f"{label(self, name)} holds one Python value per item, and these cannot be {said}")
    if fn is view_tensor:  # nobody sees how the positions lie in memory, so that never forbids a view
        return of_pool(value._pool, reshape_tensor(value._positions, cast(Any, argument)))
    return of_pool(value._pool, fn(value._positions, _on_cpu(argument)))


def _on_cpu(argument: A) -> A:
    """An argument with its tensors in main memory, where positions are."""
    if isinstance(argument, Tensor):
        return argument if argument.is_cpu else cast(A, argument.cpu())
    if type(argument) is tuple:
        parts = cast("tuple[object, ...]", argument)
        return cast(A, tuple([_on_cpu(one) for one in parts]))
    return argument


@with_real_tensors
def join_items(self: Stored, name: str, fn: Join, values: Sequence[P]) -> P:
    """The values of several objects joined; None in all objects or in none.

    Raises:
        TypeError: vmap hides which item is which.
    """
    present = all_or_none(self, name, cast("Sequence[PerItem[Any] | None]", values))
    if present is None:
        return values[0]
    if any(isinstance(value, LostItems) for value in present):
        raise TypeError(f"{label(self, name)}: the values of a PerItem field cannot be joined {_UNREADABLE}")
    first = present[0]
    if all(value._pool is first._pool for value in present):
        return cast("P", of_pool(first._pool, fn([value._positions for value in present])))
    pool: list[object] = []
    positions: list[Tensor] = []
    for value in present:
        one = _compact(value)
        positions.append(one._positions + len(pool))
        pool += one._pool.values
    return cast("P", of_pool(Pool(tuple(pool)), fn(positions)))


@with_real_tensors
def part_items(
    self: Stored,
    name: str,
    fn: Callable[[Tensor, A], Sequence[Tensor]],
    value: P,
    argument: A,
    batch_sizes: Sequence[Size],
) -> Sequence[P]:
    """The pieces of the values; None for each where the field is None.

    Raises:
        TypeError: `fn` does not take them apart, and the batch size does not stay.
    """
    what = getattr(fn, _MARK, None)
    # What gives as many numbers as it takes leaves the items where they are, unless it puts them in another order.
    if value is None or (what == "reduced" and all(size == value.batch_size for size in batch_sizes)):
        return [value] * len(batch_sizes)
    if what is not None:
        raise TypeError(f"{label(self, name)} holds one Python value per item, and these cannot be {what}")
    return cast("Sequence[P]", [of_pool(value._pool, part) for part in fn(value._positions, argument)])


@with_real_tensors
def put_items(self: Stored, name: str, target: P, index: object, value: P) -> P:
    """The values with some of them written over; None in both objects or in neither."""
    present = all_or_none(self, name, [target, value])
    if present is None:
        return target
    old, new = (_compact(cast("PerItem[Any]", one)) for one in present)
    positions = old._positions.clone()
    positions[_on_cpu(index)] = new._positions + len(old._pool.values)  # type: ignore[index] # `index` was made by the runtime
    return cast("P", of_pool(Pool(old._pool.values + new._pool.values), positions))


@with_real_tensors
def with_items(self: Stored, name: str, target: object, index: object, value: object) -> PerItem[Any]:
    """The values of a field with those of some items written over: by one value for each, as the field itself takes them.

    Raises:
        TypeError: a list is expected and something else found.
        ValueError: the field is None, or there are more or fewer values than items.
    """
    if not isinstance(target, PerItem):
        raise ValueError(f"{label(self, name)}: there are no values to write over, the field is {describe(target)}")
    size = target._positions[_on_cpu(index)].shape  # type: ignore[index] # `index` was made by the runtime
    return put_items(self, name, target, index, per_item(self, name, value, size))


def _compact(value: PerItem[T]) -> PerItem[T]:
    """The same values without most of the others in the pool, where these are many."""
    few = is_compiling() or len(value._pool.values) <= 2 * value._positions.numel()
    return value if few else PerItem(value.values(), value.batch_size)
