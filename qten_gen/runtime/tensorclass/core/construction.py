"""Making objects through the generated constructor, which checks every field; and the defaults of fields."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

from torch import Tensor

from ...declaring import loading
from .devices import DeviceLike
from .errors import suggestion
from .sizes import BatchSize
from .sizes import batch_size as as_batch_size
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


def from_dict(
    cls: type[T], values: Mapping[str, object], *, batch_size: BatchSize = (), device: DeviceLike = None
) -> T:
    """Construct from a mapping, as `to_dict` returns it; mappings in place of nested objects become those objects.

        Batch.from_dict({"tokens": torch.ones(4, 7), "point": {"weight": torch.ones(4)}}, batch_size=4)

    Args:
        values: A value for each field that has no default. Each tensor has a shape that starts with the batch size.
        batch_size: As in the constructor; nothing is inferred. Nested objects get the same.
        device: As in the constructor, which moves the tensors to it.

    Raises:
        TypeError: a key is not a field, or a field without default is missing.
        ValueError: a shape does not start with the batch size.
    """
    for name in values:
        if name not in cls._fields:
            raise TypeError(f"{cls.__name__}.from_dict: no field {name!r}{suggestion(name, cls._fields)}")
    missing = [name for name in cls._fields if name not in values and name not in cls._defaults]
    if missing:
        raise TypeError(f"{cls.__name__}.from_dict: missing {', '.join(map(repr, missing))}")
    size = as_batch_size(batch_size)
    fields = {
        name: from_dict(nested_class(cls, name), value, batch_size=size, device=device)
        if name in cls._nested and isinstance(value, Mapping)
        else value
        for name, value in values.items()
    }
    return construct(cls, {**fields, "batch_size": size, "device": device})


def nested_class(cls: type[Stored], name: str) -> type[Stored]:
    """The class of a nested field, as the generated code of the owner knows it."""
    found: type[Stored] = cls._map.__globals__[loading.bound_name(cls._nested[name])]
    return found
