"""Making objects through the generated constructor, which checks every field; and the defaults of fields."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

from torch import Tensor

from .stored import Stored

if TYPE_CHECKING:
    from ...declaring.fields import Default

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
    """An object constructed from the values of its fields, `batch_size` and `device`, past an `__init__` of the class's own."""
    out = object.__new__(cls)
    cls.__generated_init__(out, **values)
    return out
