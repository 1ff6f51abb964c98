"""Fields that hold another TensorClass: what generated code calls for them.

A nested object has a batch size that starts with its owner's. A TensorDict that stands for one is converted by `interop/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import torch
from torch import Size, Tensor

from ...declaring.loading import Undeclared
from ..core import late
from ..core.contents import nested_class
from ..core.error_text import class_names, describe, disambiguation, label
from ..core.locks import nested_objects
from ..core.other_libraries import is_tensordict
from ..core.stored import Stored
from .tensor import Join, all_or_none, match_optional

T = TypeVar("T", bound=Stored)
N = TypeVar("N", bound=Stored | None)
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
        from .batch_sizes import extended  # most have it already

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
        from .from_dict import from_dict  # few classes convert what they are given

        return from_dict(cls, value, batch_size=batch_size, device=device)
    raise TypeError(f"{label(self, name)}: expected {cls.__name__}, got {describe(value)}{disambiguation(cls, value)}")


def match_nested(self: Stored, name: str, left: Stored | None, right: Stored | None) -> None:
    """Refuse the nested objects of two objects where one is None, or where they are of one class and not alike.

    Raises:
        TypeError: one of them is None.
    """
    if left is None or right is None:
        match_optional(self, name, left, right)
    elif type(left) is type(right):
        left._check_compatible(right)


def zip_nested(self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: N, right: N) -> N:
    """Apply `fn` to the tensors of a nested field of two objects; None in both or in neither."""
    if left is None or right is None:
        all_or_none(self, name, [left, right])
        return left
    if type(left) is not type(right):
        raise _different(self, name, left, right)
    return left._zip(fn, right)


def join_nested(self: Stored, name: str, fn: Join, values: Sequence[N], batch_size: Size) -> N:
    """Join a nested field, whose values are of one class; None in all objects or in none."""
    present = all_or_none(self, name, cast("Sequence[Stored | None]", values))
    if present is None:
        return values[0]
    first = present[0]
    for value in present:
        if type(first) is not type(value):
            raise _different(self, name, first, value)
    return cast("N", first._join(fn, present, batch_size + first._batch_size[len(self._batch_size) :]))


def part_nested(
    self: Stored, fn: Callable[[Tensor, A], Sequence[Tensor]], value: N, argument: A, batch_sizes: Sequence[Size]
) -> Sequence[N]:
    """The pieces of a nested field: None for each where it is None."""
    if value is None:
        return [value] * len(batch_sizes)
    tail = value._batch_size[len(self._batch_size) :]
    sizes = [batch_size + tail for batch_size in batch_sizes] if tail else batch_sizes
    return cast("Sequence[N]", value._split(fn, argument, sizes))


def put_nested(self: Stored, name: str, target: T | None, index: object, value: T | None) -> None:
    """Write items of a nested field; None in both objects or in neither."""
    if target is None or value is None:
        all_or_none(self, name, [target, value])
        return
    if type(target) is not type(value):
        raise _different(self, name, target, value)
    target._index_put(index, value)


def _different(self: Stored, name: str, left: object, right: object) -> TypeError:
    return TypeError(f"{label(self, name)}: expected values of one class, got {class_names(left, right)}")
