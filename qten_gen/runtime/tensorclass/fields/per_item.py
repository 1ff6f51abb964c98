"""`PerItem[T]`: one Python value for each item of a batch.

What rearranges the tensors of an object rearranges the numbers from 0 on too, and these then say where each value goes. Code that
dynamo compiles returns such numbers as a tensor, so that one graph serves any values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import accumulate
from math import prod
from operator import getitem
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._C._functorch import is_batchedtensor
from torch.compiler import is_dynamo_compiling, is_exporting
from torch.utils._python_dispatch import _disable_current_modes

from ..core.construction import values_of_lists
from ..core.error_text import label
from ..core.sizes import BatchSize, reshape_tensor, view_tensor
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from .tensor import Join

if TYPE_CHECKING:
    from qten_gen_typing import PerItemField

    from ..core.sizes import Index
else:
    PerItemField = Generic

T = TypeVar("T")
A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., object])

_UNREADABLE = "inside of vmap, nor where tree_map has changed the batch size tensor by tensor"


def with_real_tensors(fn: F) -> F:
    """The function, whose numbers have values in every mode of torch, also with fake tensors. Dynamo traces it."""

    @wraps(fn)
    def call(*args: Any) -> object:
        if is_dynamo_compiling() or not torch._C._len_torch_dispatch_stack():
            return fn(*args)
        with _disable_current_modes():
            return fn(*args)

    return cast(F, call)


class _Values(Generic[T]):
    """Values in an object of their own: a graph that only passes them on has no guards on what is in it."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[T, ...]) -> None:
        self.values = values


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

    __slots__ = ("_places", "_size", "_values")

    _values: _Values[T]
    _size: Size
    _places: Tensor | None
    """Where the value of each item stands in `_values`; None, but for results of compiled code, where they are in order."""

    def __init__(self, values: Iterable[T], batch_size: BatchSize = None) -> None:
        found = tuple(values)
        size = Size((len(found),)) if batch_size is None else as_batch_size(batch_size)
        if len(found) != prod(size):
            raise ValueError(f"PerItem: expected {prod(size)} values for batch size {list(size)}, got {len(found)}")
        self._values, self._size, self._places = _Values(found), size, None

    @property
    def batch_size(self) -> Size:
        """The shape that the values are arranged in."""
        return self._size

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

        Raises:
            TypeError: they are not known inside of vmap, nor in compiled code that has rearranged them.
        """
        if self._places is None:
            return self._values.values
        if is_dynamo_compiling():
            raise TypeError(
                "compiled code cannot read the values of a PerItem that it has rearranged; read them before"
            )
        if is_batchedtensor(self._places):
            raise TypeError(f"the values of a PerItem field cannot be read {_UNREADABLE}")
        return _picked(self._values, self._places)

    def tolist(self) -> T | list[Any]:  # a list of lists, as deep as there are batch dimensions
        """The values in lists, one in the other for each batch dimension; without batch dimensions the value itself.

        >>> PerItem(["a", "b", "c", "d"], batch_size=[2, 2]).tolist()
        [['a', 'b'], ['c', 'd']]
        """
        return cast("T | list[Any]", _in_lists(self.values(), self.batch_size))

    def __len__(self) -> int:
        if not self.batch_size:
            raise TypeError("a PerItem without batch dimensions has no len(); its value is .item()")
        return self.batch_size[0]

    def __getitem__(self, index: Index) -> PerItem[T]:
        return _rearranged(self, getitem, cast(Any, index))

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
        if self._places is not None and not _are_known(self._places):
            return "PerItem(...)"
        if self.batch_size.numel() <= 8:
            return f"PerItem({self.tolist()!r})"
        return f"PerItem({', '.join(map(repr, self.values()[:3]))}, ..., batch_size={list(self.batch_size)})"

    def __reduce__(self) -> tuple[type[PerItem[T]], tuple[tuple[T, ...], tuple[int, ...]]]:
        return PerItem, (self.values(), tuple(self.batch_size))


class LostItems(PerItem[T]):
    """The mark, in a tree that was mapped leaf by leaf, for values which it cannot arrange; see `fitted`."""

    __slots__ = ("original",)

    def __init__(self, original: PerItem[T]) -> None:
        self.original = original

    def __getattr__(self, name: str) -> object:  # of the slots, which are never set
        raise TypeError(f"the values of a PerItem field cannot be read {_UNREADABLE}")

    def __repr__(self) -> str:
        return "PerItem(...)"


def fitted(value: object, batch_size: Size) -> object:
    """The values for a tree of this batch size: the original ones, where the original tree has the same."""
    known = original(value)
    return known if not isinstance(known, PerItem) or known.batch_size == batch_size else LostItems(known)


def original(value: object) -> object:
    """The values that a tree was made with; other static values as they are."""
    return value.original if isinstance(value, LostItems) else value


def as_constants(value: object) -> object:
    """The values as constants, which `torch.export(strict=True)` writes into the structure of a result."""
    return ("PerItem", value.values(), tuple(value.batch_size)) if isinstance(value, PerItem) else value


def from_constants(value: object) -> object:
    """The opposite of `as_constants`."""
    return PerItem(*value[1:]) if type(value) is tuple and value[:1] == ("PerItem",) else value


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


def effect_on_items(fn: object, argument: object, batch_size: Size) -> str | None:
    """The mark that `items_become` left at a function; None for one that rearranges items."""
    what = getattr(fn, _MARK, None)
    return what if what is None or isinstance(what, str) else cast(str, what(argument, batch_size))


def _in_lists(values: Sequence[object], size: Sequence[int]) -> object:
    """Values in lists as deep as there are dimensions."""
    if not size:
        return values[0]
    step = prod(size[1:])
    return [_in_lists(values[at * step : (at + 1) * step], size[1:]) for at in range(size[0])]


def _numbered(value: PerItem[T]) -> Tensor:
    """The numbers of the values, as the items are arranged."""
    if value._places is not None:
        return value._places
    return torch.arange(prod(value._size), device="cpu").reshape(value._size)


def _are_known(places: Tensor) -> bool:
    """True if the numbers can be read: not inside of vmap, and not where an index of fake tensors gave them."""
    return type(places) is Tensor and not is_batchedtensor(places)


def _arranged(values: _Values[T], places: Tensor) -> PerItem[T]:
    """The values at some places, arranged as these are."""
    if not is_dynamo_compiling() and _are_known(places):
        return PerItem(_picked(values, places), places.shape)
    made: PerItem[T] = object.__new__(PerItem)
    made._values, made._size, made._places = values, places.shape, places
    return made


@with_real_tensors
def _picked(values: _Values[T], places: Tensor) -> tuple[T, ...]:
    found = values.values
    return tuple([found[at] for at in places.reshape(-1).tolist()])


@with_real_tensors
def _rearranged(value: PerItem[T], fn: Callable[[Tensor, A], Tensor], argument: A) -> PerItem[T]:
    """The values rearranged as `fn(tensor, argument)` rearranges tensors. One item of many takes no longer than one of few."""
    is_plain = cast(object, fn) is getitem and type(argument) in (int, slice) and value._places is None
    if is_plain and (not is_dynamo_compiling() or is_exporting()):
        at: Any = range(value._size[0])[cast(Any, argument)]
        size, step = value._size[1:], prod(value._size[1:])
        if type(at) is int:
            return PerItem(value._values.values[at * step : (at + 1) * step], size)
        taken = [one for each in at for one in value._values.values[each * step : (each + 1) * step]]
        return PerItem(taken, Size((len(at), *size)))
    if fn is view_tensor:  # values have no strides that could forbid a view
        fn = cast("Callable[[Tensor, A], Tensor]", reshape_tensor)
    return _arranged(value._values, fn(_numbered(value), on_cpu(argument)))


def on_cpu(argument: A) -> A:
    """An argument with its tensors in main memory, where the numbers are."""
    if isinstance(argument, Tensor):
        return argument if argument.is_cpu else cast(A, argument.cpu())
    if type(argument) is tuple:
        parts = cast("tuple[object, ...]", argument)
        return cast(A, tuple([on_cpu(one) for one in parts]))
    return argument


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
    what = f"values for batch size {list(batch_size)}"
    return PerItem(values_of_lists(label(self, name), value, batch_size, what), batch_size)


def rearrange_items(
    self: Stored, name: str, fn: Callable[[Tensor, A], Tensor], value: PerItem[T], argument: A
) -> PerItem[T]:
    """The values rearranged as `fn(tensor, argument)` rearranges tensors.

    Raises:
        TypeError: it does not rearrange them.
    """
    said = effect_on_items(fn, argument, value.batch_size)
    if said is None:
        return _rearranged(value, fn, argument)
    if said == "kept":
        return value
    raise _unfit(self, name, said)


def _unfit(self: Stored, name: str, what: str) -> TypeError:
    return TypeError(f"{label(self, name)} holds one Python value per item, and these cannot be {what}")


@with_real_tensors
def join_items(self: Stored, name: str, fn: Join, values: Sequence[PerItem[T]]) -> PerItem[T]:
    """The values of several objects joined.

    Raises:
        TypeError: vmap hides which item is which.
    """
    if any(isinstance(value, LostItems) for value in values):
        raise TypeError(f"{label(self, name)}: the values of a PerItem field cannot be joined {_UNREADABLE}")
    found, numbers = _together(values)
    return _arranged(found, fn(numbers))


def _together(items: Sequence[PerItem[T]]) -> tuple[_Values[T], list[Tensor]]:
    """The values of several behind one another, and where each has its own."""
    before = [0, *accumulate(len(item._values.values) for item in items)][:-1]
    values = _Values(tuple([one for item in items for one in item._values.values]))
    return values, [_numbered(item) + count for item, count in zip(items, before, strict=True)]


@with_real_tensors
def part_items(
    self: Stored,
    name: str,
    fn: Callable[[Tensor, A], Sequence[Tensor]],
    value: PerItem[T],
    argument: A,
    batch_sizes: Sequence[Size],
) -> Sequence[PerItem[T]]:
    """The pieces of the values.

    Raises:
        TypeError: `fn` does not take them apart, and the batch size does not stay.
    """
    what = getattr(fn, _MARK, None)
    # What gives as many numbers as it takes leaves the items where they are, unless it puts them in another order.
    if what == "reduced" and all(size == value.batch_size for size in batch_sizes):
        return [value] * len(batch_sizes)
    if what is not None:
        raise _unfit(self, name, what)
    return [_arranged(value._values, part) for part in fn(_numbered(value), argument)]


@with_real_tensors
def put_items(self: Stored, name: str, target: PerItem[T], index: object, value: PerItem[T]) -> PerItem[T]:
    """The values with some of them written over."""
    together, (places, new) = _together([target, value])
    places = places.clone()
    places[on_cpu(index)] = new  # type: ignore[index] # `index` was made by the runtime
    return _arranged(together, places)
