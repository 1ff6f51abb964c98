"""Arguments of constructors beside the fields, devices, values in lists, defaults, objects made by the generated constructor."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

import torch
from torch import Size, Tensor

from .dimension_names import Names, NamesLike
from .dimension_names import names as checked_names
from .error_text import describe
from .sizes import BatchSize
from .sizes import batch_size as checked_size
from .stored import Stored

if TYPE_CHECKING:
    from ...declaring.fields import Default

DeviceSpec = torch.device | str | int
"""A device as an argument of a method: `torch.device("cuda")`, `"cuda:1"`, or the index of an accelerator."""

DeviceLike = DeviceSpec | None
"""The argument `device` of a constructor; None leaves the tensors where they are."""

_CPU = torch.device("cpu")


def as_device(value: DeviceSpec) -> torch.device:
    """A device with its index, so that it equals the device of the tensors on it: `cuda` becomes `cuda:0`.

    Raises:
        TypeError: torch knows no such device.
    """
    if type(value) is str and value == "cpu":
        return _CPU
    try:
        found = value if isinstance(value, torch.device) else torch.device(value)
    except (RuntimeError, TypeError):
        raise TypeError(f"device: expected a device such as 'cpu' or 'cuda:0', got {value!r}") from None
    if found.type == "cpu":
        return _CPU  # tensors on `cpu:0` say `cpu`
    if found.index is not None or found.type == "meta":
        return found
    return torch.empty(0, device=found).device  # torch says which device is the current one


def move_without_waiting(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device, to which it may still be copied."""
    return tensor.to(device, non_blocking=True)


Device = torch.device | None
"""The stored device of an object: where all its tensors are, or None where nothing is said about it."""


def values_of_lists(where: str, value: object, batch_size: Size, what: str, place: str = "") -> list[object]:
    """The values of lists in a row: one list in the other for each batch dimension, each as long as its dimension.

    Args:
        what: What an error message says of them: `values`.
        place: Where a list stands in the others.

    Raises:
        TypeError: there is no list.
        ValueError: it has another length.
    """
    if not batch_size:
        return [value]
    where_it_is = f"{where} at {place}" if place else where
    if type(value) is not list and (isinstance(value, (str, bytes)) or not isinstance(value, Sequence)):
        raise TypeError(f"{where_it_is}: expected a list of {batch_size[0]} {what}, got {describe(value)}")
    if len(value) != batch_size[0]:
        raise ValueError(f"{where_it_is}: expected a list of {batch_size[0]}, got one of {len(value)}")
    if len(batch_size) == 1:
        return [*value]
    lists = [values_of_lists(where, part, batch_size[1:], what, f"{place}[{at}]") for at, part in enumerate(value)]
    return [one for part in lists for one in part]


def batch_arguments(
    self: Stored, batch_size: BatchSize, device: DeviceLike, names: NamesLike
) -> tuple[Size, torch.device | None, Names | None]:
    """The batch size, device and names of dimensions that a constructor stores for what it was given.

    Raises:
        TypeError: one of them is of a type that is not documented.
        ValueError: the names are not one for each batch dimension, or not unique.
    """
    try:
        size = batch_size if type(batch_size) is Size else checked_size(batch_size)
        place = None if device is None else as_device(device)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{type(self).__name__}.{error}") from None
    return size, place, None if names is None else checked_names(self, names, size)


T = TypeVar("T", bound=Stored)


class Missing(Enum):
    """Type of `DEFAULT`; an Enum, because dynamo traces calls whose defaults are members of one."""

    DEFAULT = "default"

    def __repr__(self) -> str:
        return "<default>"


DEFAULT: Final[Any] = Missing.DEFAULT  # the default of parameters of every type
"""Stands in a generated signature for a default that cannot be written there."""


class HasDefaults(Protocol):
    """An object of a declared class: a TensorClass or a Module."""

    _defaults: ClassVar[dict[str, Default]]


def default(self: HasDefaults, name: str) -> Any:  # of the type of the field
    """The default of a field for one instance: a factory is called; a tensor or an object with tensors is cloned."""
    found: Default = type(self)._defaults[name]
    if found.is_factory:
        return found.value()  # type: ignore[operator] # a factory is callable
    if isinstance(found.value, Tensor):
        return found.value.clone()
    return found.value._map(Tensor.clone) if isinstance(found.value, Stored) else found.value


def construct(cls: type[T], values: dict[str, object]) -> T:
    """An object made of the values of its fields, `batch_size` and `device`, past an `__init__` that the class defines."""
    out = object.__new__(cls)
    cls.__generated_init__(out, **values)
    return out
