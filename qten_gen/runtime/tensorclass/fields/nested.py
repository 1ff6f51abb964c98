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
from ..core.contents import (
    nested_class,
    nested_objects,
)
from ..core.error_text import class_names, describe, disambiguation, label
from ..core.other_libraries import is_tensordict
from ..core.stored import Stored
from .batch_sizes import extended
from .mappings import from_dict
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
