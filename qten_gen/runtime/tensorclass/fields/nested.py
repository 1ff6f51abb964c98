"""Fields that hold another TensorClass: what generated code calls for them.

A nested object has a batch size that starts with its owner's. A TensorDict that stands for one is converted by `interop/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import torch
from torch import Size, Tensor

from ...declaring.loading import Undeclared
from ..core import late
from ..core.construction import DeviceLike, construct
from ..core.contents import (
    allocate_like,
    contents,
    nested_class,
    nested_objects,
    shallow_copy,
    tensor_and_nested,
    tensors_of,
)
from ..core.dimension_names import NamesLike
from ..core.error_text import abridged, class_names, describe, disambiguation, label, suggestion
from ..core.locks import refuse_if_locked
from ..core.other_libraries import is_tensordict
from ..core.sizes import BatchSize, common_leading
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from .tensor import Join

T = TypeVar("T", bound=Stored)
N = TypeVar("N", bound=Stored)
A = TypeVar("A")


def object_for(cls: type[T], value: object) -> T | None:
    """The object of a class that a TensorDict stands for; None for any other value.

    Raises:
        TypeError: the keys of a TensorDict do not fit.
        ValueError: its sizes do not fit.
    """
    return cast("T", late.tensordicts.from_tensordict(cls, value)) if is_tensordict(value) else None


def nested(self: Stored, name: str, cls: type[T], value: object, batch_size: Size, device: torch.device | None) -> T:
    """The object to store in a nested field, on the owner's device.

    Its batch size has to start with the owner's. A shorter one is raised to it in a shallow copy.

    Args:
        value: An object of `cls`, or a TensorDict. In an `autocast` class also a mapping.
        batch_size: The owner's.
        device: The owner's, with its index; None leaves the tensors where they are.

    Raises:
        TypeError: `value` is of another class, or a TensorDict whose keys do not fit.
        ValueError: the batch sizes do not fit, or `value` holds the owner.
    """
    if not isinstance(value, cls):
        value = _converted(self, name, cls, value, batch_size, device)
    if value is self or (value._nested and _holds(value, self)):  # a cycle would have no end for any operation
        raise ValueError(f"{label(self, name)}: an object cannot hold itself; use .clone(recurse=False)")
    if value._batch_size[: len(batch_size)] != batch_size:
        value = extended(self, name, value, batch_size)
    if device is not None and value._device != device:
        return value._map_with(Tensor.to, device, device)
    return value


def _holds(value: Stored, searched: Stored) -> bool:
    return any(inner is searched or _holds(inner, searched) for inner in nested_objects(value))


def _converted(
    self: Stored, name: str, cls: type[T], value: object, batch_size: Size, device: torch.device | None
) -> T:
    """The object of `cls` that a value of another type stands for.

    Raises:
        TypeError: it stands for none, or its keys do not fit.
        ValueError: its sizes do not fit.
    """
    if cast("type", cls) is Undeclared:  # generated code has the mark until the class is declared
        cls = cast("type[T]", nested_class(type(self), name))
    try:
        found = object_for(cls, value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{label(self, name)}: {error}") from error
    if found is not None:
        return found
    if isinstance(value, Mapping) and "autocast" in self._flags:
        return from_dict(cls, value, batch_size=batch_size, device=device)
    raise TypeError(f"{label(self, name)}: expected {cls.__name__}, got {describe(value)}{disambiguation(cls, value)}")


def of_one_class(self: Stored, name: str, left: Stored, right: N) -> N:
    """The nested object of a second object, which is of the class of the first one's.

    Raises:
        TypeError: it is of another class.
    """
    if type(left) is not type(right):
        raise TypeError(f"{label(self, name)}: expected values of one class, got {class_names(left, right)}")
    return right


def join_nested(
    self: Stored, name: str, fn: Join, values: Sequence[N], batch_size: Size, *owner: tuple[Stored, str]
) -> N:
    """Join a nested field, whose values are of one class. A Ragged object gets the field as `owner`, for its messages."""
    first = values[0]
    for value in values:
        of_one_class(self, name, first, value)
    return first._join(fn, values, batch_size + first._batch_size[len(self._batch_size) :], *owner)


def part_nested(
    self: Stored,
    fn: Callable[[Tensor, A], Sequence[Tensor]],
    value: N,
    argument: A,
    batch_sizes: Sequence[Size],
    *owner: tuple[Stored, str],
) -> Sequence[N]:
    """The pieces of a nested field."""
    tail = value._batch_size[len(self._batch_size) :]
    sizes = [batch_size + tail for batch_size in batch_sizes] if tail else batch_sizes
    return value._split(fn, argument, sizes, *owner)


def with_batch_size(self: T, batch_size: Size, where: str = "") -> T:
    """A shallow copy with another batch size, which all tensors have to start with; nested objects are raised to it.

    Args:
        where: How an error message begins, for an object in a field of another one.

    Raises:
        ValueError: a tensor or a nested batch size does not fit.
    """
    batch_ndim = len(batch_size)
    values, static = self._field_values()
    values_that_fit: list[object] = []
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if name in self._unbatched:
            pass
        elif isinstance(value, (Tensor, dict, list)):
            for tensor in tensors_of(value):
                if tensor.shape[:batch_ndim] != batch_size:
                    raise ValueError(
                        f"{where}{label(self, name)}: expected a shape that starts with {list(batch_size)}, "
                        f"got {list(tensor.shape)}"
                    )
        elif value is not None and value._batch_size[:batch_ndim] != batch_size:
            value = extended(self, name, value, batch_size)
        values_that_fit.append(value)
    if self._per_item:
        from .per_item import refuse_unfit  # here and below: few classes have such fields

        refuse_unfit(self, batch_size, static)
    if self._shapes:
        from .annotated_shapes import refuse_contents

        refuse_contents(self, batch_size, contents(self))
    out = allocate_like(self)._assign(values_that_fit, static, batch_size, self._device)
    # A dimension that the old size does not have has no name.
    out._names = self._names and (*self._names, *[None] * batch_ndim)[:batch_ndim]
    return out


def extended(self: Stored, name: str, inner: T, batch_size: Size) -> T:
    """A shallow copy of `inner` with the whole batch size of its owner, of which its own is a prefix.

    Raises:
        ValueError: `inner` has a batch size that `batch_size` does not start with, or a tensor does not fit.
    """
    if batch_size[: len(inner._batch_size)] != inner._batch_size:
        raise ValueError(
            f"{label(self, name)}: expected a batch size that starts with {list(batch_size)}, "
            f"got {list(inner._batch_size)}"
        )
    return with_batch_size(shallow_copy(inner), batch_size, f"{label(self, name)}: ")


def set_batch_size(self: Stored, value: BatchSize) -> None:
    """Set the property `batch_size`: all tensors have to start with it. Nested objects are raised to it in shallow copies.

    Raises:
        ValueError: a tensor or a nested batch size does not fit; nothing is changed then.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    refuse_if_locked(self, "change the batch size of")
    changed = with_batch_size(self, as_batch_size(value))
    self._assign(*changed._field_values(), changed._batch_size, self._device)
    self._names = changed._names


def find_batch_size(self: Stored, batch_dims: int | None, enough: int | None) -> None:
    """Find the batch size of an object and its nested objects, apart from those with `enough` dimensions."""
    refuse_if_locked(self, "change the batch size of")
    for inner in nested_objects(self):
        if inner._lock is None and (enough is None or len(inner._batch_size) < enough):
            find_batch_size(inner, batch_dims, None)
    sizes = list(_shapes(self))
    if sizes:
        set_batch_size(self, common_leading(sizes)[:batch_dims])


def clear_device(self: Stored) -> None:
    """Set the device of an object, and of those in its fields that are not locked, to None."""
    refuse_if_locked(self, "change the device of")
    for inner in nested_objects(self):
        if inner._lock is None:
            clear_device(inner)
    self._device = None


def _shapes(self: Stored) -> Iterator[Size]:
    """The shapes of the tensors that the batch carries, and the batch sizes of nested objects and of values for each item."""
    for name, value in zip(tensor_and_nested(self), self._field_values()[0], strict=True):
        if name in self._unbatched:
            continue
        if name in self._nested and value is not None:
            yield value._batch_size
        else:
            yield from (tensor.shape for tensor in tensors_of(value))
    for name in self._per_item:
        items = getattr(self, name)
        if items is not None:
            yield items.batch_size


def from_dict(
    cls: type[T],
    values: Mapping[str, object],
    *,
    batch_size: BatchSize = None,
    device: DeviceLike = None,
    names: NamesLike = None,
    auto_batch_size: bool | None = None,
    batch_dims: int | None = None,
) -> T:
    """Construct from a mapping, as `to_dict` returns it; mappings in place of nested objects become those objects.

    >>> Batch.from_dict({"tokens": torch.arange(2)}, batch_size=2).tokens
    tensor([0, 1])
    >>> Batch.from_dict({"tokens": torch.ones(4, 7)}, batch_dims=1).batch_size
    torch.Size([4])

    Args:
        values: A value for each field that has no default. Each tensor has a shape that starts with the batch size.
        batch_size: As in the constructor; nothing is inferred. Nested objects get the same.
        device: As in the constructor, which moves the tensors to it.
        names: As in the constructor.
        auto_batch_size: Take the leading dimensions that all tensors share as the batch size, for each nested object those of
            its own tensors.
        batch_dims: The same, for so many dimensions at most.

    Raises:
        TypeError: a key is not a field, or a field without default is missing.
        ValueError: a shape does not start with the batch size, or it is both given and to be found.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"{cls.__name__}.from_dict: expected a mapping of fields to values, got {describe(values)}")
    for name in values:
        if name not in cls._fields:
            raise TypeError(f"{cls.__name__}.from_dict: no field {abridged(name)}{suggestion(name, cls._fields)}")
    missing = [name for name in cls._fields if name not in values and name not in cls._defaults]
    if missing:
        raise TypeError(f"{cls.__name__}.from_dict: missing {', '.join(map(repr, missing))}")
    # `batch_dims` alone asks for it too.
    is_found = auto_batch_size or (auto_batch_size is None and batch_dims is not None)
    if is_found and batch_size is not None:
        given = "batch_dims" if batch_dims is not None else "auto_batch_size"
        raise ValueError(f"{cls.__name__}.from_dict: expected batch_size or {given}, got both")
    size = _shared_dimensions(cls, values)[:batch_dims] if is_found else as_batch_size(batch_size)
    of_nested: dict[str, Any] = (
        {"auto_batch_size": True, "batch_dims": batch_dims} if is_found else {"batch_size": size}
    )
    if cls.__structure__:
        of_nested = {"auto_batch_size": True, "batch_dims": 1}
    # A TensorDict is a mapping, and a value that the constructor takes.
    fields = {
        name: from_dict(nested_class(cls, name), value, device=device, **of_nested)
        if name in cls._nested and isinstance(value, Mapping) and not is_tensordict(value)
        else value
        for name, value in values.items()
    }
    return construct(cls, {**fields, "batch_size": size, "device": device, "names": names})


def _shared_dimensions(cls: type[Stored], values: Mapping[str, object]) -> Size:
    """The longest shape that the shapes of all tensors start with that the batch carries; none where there are no tensors."""
    shapes = list(_shapes_in(cls, values))
    return common_leading(shapes) if shapes else Size()


def _shapes_in(cls: type[Stored] | None, values: Mapping[str, object]) -> Iterator[Size]:
    """The shapes of all tensors that the batch is to carry, also in nested mappings and in dicts without a class."""
    for name, value in values.items():
        if cls is not None and (name in cls._static or name in cls._unbatched):
            continue
        if isinstance(value, Tensor):
            yield value.shape
        elif isinstance(value, Stored):
            yield value._batch_size
        elif is_tensordict(value):
            yield value.batch_size
        elif isinstance(value, dict):
            yield from _shapes_in(nested_class(cls, name) if cls is not None and name in cls._nested else None, value)
        elif isinstance(value, list) and cls is not None and name in cls._containers:
            yield from (tensor.shape for tensor in value)
