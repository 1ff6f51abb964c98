"""Objects put together (`stack`, `cat`) and taken apart (`split`, `chunk`, `unbind`), and what generated code calls for both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from torch import Size, SymInt, Tensor, split_with_sizes
from torch import cat as cat_tensors
from torch import stack as stack_tensors
from torch import unbind as unbind_tensors

from ..core import names
from ..core.checks import disambiguation, label, of_another_class
from ..core.error_context import explain
from ..core.stored import Stored
from .reshaping import Dim, dimension, with_inserted, with_length, without

if TYPE_CHECKING:
    from ..core.names import Names

T = TypeVar("T", bound=Stored)
A = TypeVar("A")

Join = Callable[[list[Tensor]], Tensor]
"""Joins along the first dimension. Along another one it is a function of torch that has been told so."""


def stack(items: Iterable[T], dim: int = 0, fn: Callable[..., Tensor] = stack_tensors) -> T:
    """Objects of one class and batch size along a new batch dimension. `fn` stacks the tensors.

    Raises:
        TypeError: they are of different classes, or a field is None in some only.
        ValueError: there are none, or batch sizes or static fields differ.
    """
    objects = [*items]
    if not objects:
        raise _nothing("stack")
    first = objects[0]
    cls, size = type(first), first._batch_size
    for item in objects:
        if type(item) is not cls:
            raise _of_two_classes("stack", first, item)
        if item._batch_size != size:
            raise ValueError(
                f"stack: expected {cls.__name__} of one batch size, got {list(size)} and {list(item._batch_size)}"
            )
    n = len(size)
    if not -n - 1 <= dim <= n:
        raise IndexError(f"stack: dimension {dim} is out of range for {n} batch dimensions")
    at = dim if dim >= 0 else dim + n + 1
    try:
        joined = Size((len(objects), *size)) if at == 0 else with_inserted(size, at, len(objects))
        out = first._join(fn if at == 0 else partial(fn, dim=at), objects, joined)
    except RuntimeError as error:
        explain("stack", objects, error)
        raise
    if first._names is not None:
        out._names = names.inserted(first._names, at)
    return out


def stack_of_class(cls: type[T], items: Sequence[T], dim: int = 0) -> T:
    """`torch.stack` for objects of this class: along a new batch dimension.

    Raises:
        TypeError: they are of different classes, or a field is None in some only.
        ValueError: there are none, or batch sizes or static fields differ.
    """
    # With every argument given, dynamo does not look at the defaults, and installs no guards for them.
    stacked = stack(items, dim, stack_tensors)
    if type(stacked) is cls or isinstance(stacked, cls):
        return stacked
    raise of_another_class(cls, stacked)


def cat(items: Iterable[T], dim: Dim = 0) -> T:
    """Objects of one class one after the other along a batch dimension; the other batch dimensions are the same.

    Raises:
        TypeError: they are of different classes, or a field is None in some only.
        ValueError: there are none, or other batch dimensions or static fields differ.
    """
    objects = [*items]
    if not objects:
        raise _nothing("cat")
    first = objects[0]
    cls, size = type(first), first._batch_size
    at = dimension(first, dim)
    length = 0
    for item in objects:
        if type(item) is not cls:
            raise _of_two_classes("cat", first, item)
        other = item._batch_size
        if other != size and (other[:at], other[at + 1 :]) != (size[:at], size[at + 1 :]):
            raise ValueError(
                f"cat: expected {cls.__name__} whose batch sizes differ in dimension {at} only, "
                f"got {list(size)} and {list(other)}"
            )
        length += other[at]
    try:
        fn = cat_tensors if at == 0 else partial(cat_tensors, dim=at)
        out = first._join(fn, objects, with_length(size, at, length))
    except RuntimeError as error:
        explain("cat", objects, error)
        raise
    out._names = first._names
    return out


def cat_of_class(cls: type[T], items: Sequence[T], dim: Dim = 0) -> T:
    """`torch.cat` for objects of this class: along a batch dimension; the other ones are the same.

    Raises:
        TypeError: they are of different classes, or a field is None in some only.
        ValueError: there are none, or other batch dimensions or static fields differ.
    """
    joined = cat(items, dim)
    if type(joined) is cls or isinstance(joined, cls):
        return joined
    raise of_another_class(cls, joined)


def split(self: T, split_size: int | Sequence[int], dim: Dim = 0) -> tuple[T, ...]:
    """Pieces of `split_size` items, the last one perhaps smaller; or pieces of the given sizes.

    Raises:
        ValueError: the sizes do not add up to the batch dimension.
    """
    at = dimension(self, dim)
    length = self._batch_size[at]
    if isinstance(split_size, (int, SymInt)):
        if split_size <= 0:
            raise ValueError(f"split: expected a positive size, got {split_size}")
        whole, rest = length // split_size, length % split_size  # not divmod, which takes no symbols
        sizes = [split_size] * whole
        batch_sizes = [with_length(self._batch_size, at, split_size)] * whole
        if rest or not whole:
            sizes.append(rest)
            batch_sizes.append(with_length(self._batch_size, at, rest))
    else:
        sizes = list(split_size)
        if sum(sizes) != length or any(size < 0 for size in sizes):
            raise ValueError(f"split: expected sizes that add up to {length}, got {sizes}")
        batch_sizes = [with_length(self._batch_size, at, size) for size in sizes]
    return _named(self._split(_split, (sizes, at), batch_sizes), self._names)


def chunk(self: T, chunks: int, dim: Dim = 0) -> tuple[T, ...]:
    """At most `chunks` pieces of one size, the last one perhaps smaller."""
    if chunks <= 0:
        raise ValueError(f"chunk: expected a positive number of chunks, got {chunks}")
    length = self._batch_size[dimension(self, dim)]
    if length == 0:
        return split(self, [0] * chunks, dim)
    return split(self, -(-length // chunks), dim)


def unbind(self: T, dim: Dim = 0) -> tuple[T, ...]:
    """The items along a batch dimension, without that dimension."""
    at = dimension(self, dim)
    size = self._batch_size
    return _named(self._split(unbind_tensors, at, [without(size, at)] * size[at]), names.without(self._names, [at]))


def _named(parts: list[T], names: Names | None) -> tuple[T, ...]:
    if names is not None:
        for part in parts:
            part._names = names
    return tuple(parts)


def _split(tensor: Tensor, argument: tuple[list[int], int]) -> Sequence[Tensor]:
    sizes, dim = argument
    return split_with_sizes(tensor, sizes, dim)


def _nothing(action: str) -> ValueError:
    return ValueError(f"{action}: expected at least one object, got none")


def _of_two_classes(action: str, first: object, other: object) -> TypeError:
    return TypeError(f"{action}: expected objects of one class, got {_both(first, other)}")


def _both(first: object, other: object) -> str:
    return f"{type(first).__name__} and {type(other).__name__}{disambiguation(type(first), other)}"


# What generated code calls


def join_optional(self: Stored, name: str, fn: Join, values: list[Tensor | None]) -> Tensor | None:
    """Join an optional tensor field, which is None in all objects or in none."""
    given = all_or_none(self, name, values)
    return None if given is None else fn(given)


def join_nested(self: Stored, name: str, fn: Join, values: list[T | None], batch_size: Size) -> T | None:
    """Join a nested field, whose values are of one class; None in all objects or in none."""
    given = all_or_none(self, name, values)
    if given is None:
        return None
    first = given[0]
    for value in given:
        if type(value) is not type(first):
            raise _different(self, name, first, value)
    return first._join(fn, given, batch_size + first._batch_size[len(self._batch_size) :])


def zip_optional(
    self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: Tensor | None, right: Tensor | None
) -> Tensor | None:
    """Apply `fn` to an optional tensor field of two objects, which is None in both or in neither."""
    given = all_or_none(self, name, [left, right])
    return None if given is None else fn(given[0], given[1])


def zip_nested(
    self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: T | None, right: T | None
) -> T | None:
    """Apply `fn` to the tensors of a nested field of two objects; None in both or in neither."""
    if left is None or right is None:
        all_or_none(self, name, [left, right])
        return None
    if type(left) is not type(right):
        raise _different(self, name, left, right)
    return left._zip(fn, right)


def put_optional(self: Stored, name: str, target: Tensor | None, index: object, value: Tensor | None) -> None:
    """Write items of an optional tensor field, which is None in both objects or in neither."""
    given = all_or_none(self, name, [target, value])
    if given is not None:
        given[0][index] = given[1]  # type: ignore[index] # `index` was made by the runtime


def put_nested(self: Stored, name: str, target: T | None, index: object, value: T | None) -> None:
    """Write items of a nested field; None in both objects or in neither."""
    if target is None or value is None:
        all_or_none(self, name, [target, value])
        return
    if type(target) is not type(value):
        raise _different(self, name, target, value)
    target._index_put(index, value)


def part_optional(
    fn: Callable[[Tensor, A], Sequence[Tensor]], value: Tensor | None, argument: A, batch_sizes: Sequence[Size]
) -> Sequence[Tensor | None]:
    """The pieces of an optional tensor field: None for each where it is None."""
    return [None] * len(batch_sizes) if value is None else fn(value, argument)


def part_nested(
    self: Stored,
    fn: Callable[[Tensor, A], Sequence[Tensor]],
    value: T | None,
    argument: A,
    batch_sizes: Sequence[Size],
) -> Sequence[T | None]:
    """The pieces of a nested field: None for each where it is None."""
    if value is None:
        return [None] * len(batch_sizes)
    tail = value._batch_size[len(self._batch_size) :]
    return value._split(fn, argument, [batch_size + tail for batch_size in batch_sizes] if tail else batch_sizes)


V = TypeVar("V")


def all_or_none(self: Stored, name: str, values: list[V | None]) -> list[V] | None:
    """The values of an optional field in several objects, or None where it is None in all of them.

    Raises:
        TypeError: it is None in some of them.
    """
    given = [value for value in values if value is not None]
    if len(given) == len(values):
        return given
    if not given:
        return None
    missing = len(values) - len(given)
    raise TypeError(
        f"{label(self, name)}: expected a value in every object or in none, {missing} of {len(values)} are None"
    )


def _different(self: Stored, name: str, left: object, right: object) -> TypeError:
    return TypeError(f"{label(self, name)}: expected values of one class, got {_both(left, right)}")
