"""Objects put together (`stack`, `cat`) and taken apart (`split`, `chunk`, `unbind`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from torch import Size, Tensor, split_with_sizes
from torch import cat as cat_tensors
from torch import stack as stack_tensors
from torch import unbind as unbind_tensors

from ..core import dimension_names
from ..core.blame import blame
from ..core.error_text import NO_BATCH_SIZE, abridged, class_names, of_another_class
from ..core.sizes import Dim, dimension, integers, is_single, whole_number, with_inserted, with_length, without
from ..core.stored import Stored

if TYPE_CHECKING:
    from ..core.dimension_names import Names

T = TypeVar("T", bound=Stored)
A = TypeVar("A")


def stack(items: Iterable[T], dim: int = 0, fn: Callable[..., Tensor] = stack_tensors) -> T:
    """Objects of one class and batch size along a new batch dimension.

    Args:
        items: Objects of one batch size. A field has tensors of one shape and device in all of them.
        dim: Where the new dimension is among the batch dimensions of the result; -1 is behind the last one.
        fn: Stacks a list of tensors, along its first dimension or along `dim`.

    Returns:
        An object of batch size `[*size[:dim], len(items), *size[dim:]]`, with copies of the tensors.

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
                f"stack: expected {cls.__name__} of one batch size, got {list(size)} and {list(item._batch_size)}; "
                "pad their tensors to one size, or keep the objects in a list"
            )
    batch_ndim = len(size)
    if not -batch_ndim - 1 <= dim <= batch_ndim:
        raise IndexError(f"stack: dimension {dim} is out of range for {batch_ndim} batch dimensions")
    at = dim if dim >= 0 else dim + batch_ndim + 1
    try:
        joined = Size((len(objects), *size)) if at == 0 else with_inserted(size, at, len(objects))
        out = first._join(fn if at == 0 else partial(fn, dim=at), objects, joined)
    except RuntimeError as error:
        blame("stack", objects, _of_several(fn), error, _of_several(cat_tensors))
        raise
    if first._names is not None:
        out._names = dimension_names.inserted(first._names, at)
    return out


def stack_of_class(cls: type[T], items: Sequence[T], dim: int = 0) -> T:
    """`torch.stack` for objects of this class: along a new batch dimension.

    Raises:
        TypeError: they are of different classes, or a field is None in some only.
        ValueError: there are none, or batch sizes or static fields differ.
    """
    # With every argument given, dynamo does not look at the defaults, and installs no guards for them.
    made = stack(items, dim, stack_tensors)
    return made if type(made) is cls else of_class(cls, made)  # no call for dynamo to guard


def cat(items: Iterable[T], dim: Dim = 0) -> T:
    """Objects of one class one after the other along a batch dimension; the other batch dimensions are the same.

    Args:
        items: Objects whose batch sizes differ in `dim` only. Dtypes are promoted as by `torch.cat`.
        dim: A batch dimension, by place or by name.

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
        if len(other) != len(size) or (other != size and (other[:at], other[at + 1 :]) != (size[:at], size[at + 1 :])):
            raise ValueError(
                f"cat: expected {cls.__name__} whose batch sizes differ in dimension {at} only, "
                f"got {list(size)} and {list(other)}"
            )
        length += other[at]
    try:
        fn = cat_tensors if at == 0 else partial(cat_tensors, dim=at)
        out = first._join(fn, objects, with_length(size, at, length))
    except RuntimeError as error:
        blame("cat", objects, _of_several(cat_tensors), error)
        raise
    out._names = first._names
    return out


def cat_of_class(cls: type[T], items: Sequence[T], dim: Dim = 0) -> T:
    """`torch.cat` for objects of this class: along a batch dimension; the other ones are the same.

    Raises:
        TypeError: they are of different classes, or a field is None in some only.
        ValueError: there are none, or other batch dimensions or static fields differ.
    """
    made = cat(items, dim)
    return made if type(made) is cls else of_class(cls, made)


def of_class(cls: type[T], value: T) -> T:
    """An object that a method of its class was given or makes.

    Raises:
        TypeError: it is of another class.
    """
    if type(value) is cls or isinstance(value, cls):
        return value
    raise of_another_class(cls, value)


def split(self: T, split_size: int | Sequence[int], dim: Dim = 0) -> tuple[T, ...]:
    """Pieces of `split_size` items, the last one perhaps smaller; or pieces of the given sizes.

    The tensors of the pieces are views.

    Raises:
        ValueError: the sizes do not add up to the batch dimension.
    """
    at = dimension(self, dim)
    length = self._batch_size[at]
    if type(split_size) is int or is_single(split_size):
        split_size = whole_number(split_size)
        if split_size <= 0:
            raise ValueError(f"split: expected a positive size, got {split_size}")
        whole, rest = length // split_size, length % split_size  # not divmod, which takes no symbols
        sizes = [split_size] * whole
        batch_sizes = [with_length(self._batch_size, at, split_size)] * whole
        if rest or not whole:
            sizes.append(rest)
            batch_sizes.append(with_length(self._batch_size, at, rest))
    else:
        sizes = list(integers((split_size,)))
        if sum(sizes) != length or any(size < 0 for size in sizes):
            raise ValueError(f"split: expected sizes that add up to {length}, got {abridged(sizes)}")
        batch_sizes = [with_length(self._batch_size, at, size) for size in sizes]
    return _with_names(self._split(_split, (sizes, at), batch_sizes), self._names)


def chunk(self: T, chunks: int, dim: Dim = 0) -> tuple[T, ...]:
    """At most `chunks` pieces of one size, the last one perhaps smaller.

    The tensors of the pieces are views.

    Raises:
        ValueError: `chunks` is not positive.
    """
    chunks = whole_number(chunks)
    if chunks <= 0:
        raise ValueError(f"chunk: expected a positive number of chunks, got {chunks}")
    length = self._batch_size[dimension(self, dim)]
    if length == 0:  # torch makes as many empty pieces as it is asked for
        return split(self, [0] * chunks, dim)
    return split(self, -(-length // chunks), dim)


def unbind(self: T, dim: Dim = 0) -> tuple[T, ...]:
    """The items along a batch dimension, without that dimension."""
    at = dimension(self, dim)
    size = self._batch_size
    return _with_names(
        self._split(unbind_tensors, at, [without(size, at)] * size[at]), dimension_names.without(self._names, [at])
    )


def iterate(self: T) -> Iterator[T]:
    """The items along the first batch dimension.

    Raises:
        TypeError: there is none.
    """
    if not self._batch_size:
        raise TypeError(f"a {type(self).__name__} without batch dimensions cannot be iterated over; {NO_BATCH_SIZE}")
    return iter(unbind(self))


def _with_names(parts: Sequence[T], names: Names | None) -> tuple[T, ...]:
    if names is not None:
        for part in parts:
            part._names = names
    return tuple(parts)


def _split(tensor: Tensor, argument: tuple[list[int], int]) -> Sequence[Tensor]:
    sizes, dim = argument
    return split_with_sizes(tensor, sizes, dim)


def _of_several(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of a list of tensors made one of tensors. Not where it is used: dynamo guards the cells of a closure."""
    return lambda *tensors: fn([*tensors])


def _nothing(action: str) -> ValueError:
    return ValueError(f"{action}: expected at least one object, got none")


def _of_two_classes(action: str, first: object, other: object) -> TypeError:
    return TypeError(f"{action}: expected objects of one class, got {class_names(first, other)}")
