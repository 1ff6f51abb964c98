"""Making objects through the generated constructor, which checks every field; and the defaults of fields."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar, cast

from torch import Size, Tensor

from .devices import DeviceLike
from .errors import suggestion
from .names import NamesLike
from .shared_dimensions import nested_class as nested_class
from .shared_dimensions import shared_dimensions
from .sizes import BatchSize
from .sizes import batch_size as as_batch_size
from .stored import Stored
from .tensordict_library import collection_class, is_tensordict, library, made_of

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


def _tensordict_of(cls: type[Stored], name: str, value: object, batch_size: Size, device: DeviceLike) -> object:
    """The TensorDict of a mapping, for a field that holds one; any other value as it is."""
    if not isinstance(value, Mapping) or is_tensordict(value):
        return value
    made = _entries_of(library(f"{cls.__name__}.{name}"), value, batch_size, device)
    wanted = collection_class(cls, name)
    return made if wanted is None else made_of(wanted, made)


def _entries_of(made: ModuleType, values: Mapping[str, object], batch_size: Size, device: DeviceLike) -> object:
    """The TensorDict of a mapping, and of those in it."""
    entries = {
        key: _entries_of(made, part, batch_size, device)
        if isinstance(part, Mapping) and not is_tensordict(part)
        else part
        for key, part in values.items()
        if part is not None
    }
    return cast("object", made.TensorDict(entries, batch_size=batch_size, device=device))


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

        Batch.from_dict({"tokens": torch.ones(4, 7), "point": {"weight": torch.ones(4)}}, batch_size=4)
        Batch.from_dict({"tokens": torch.ones(4, 7)}, batch_dims=1)

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
    for name in values:
        if name not in cls._fields:
            raise TypeError(f"{cls.__name__}.from_dict: no field {name!r}{suggestion(name, cls._fields)}")
    missing = [name for name in cls._fields if name not in values and name not in cls._defaults]
    if missing:
        raise TypeError(f"{cls.__name__}.from_dict: missing {', '.join(map(repr, missing))}")
    is_found = auto_batch_size or (auto_batch_size is None and batch_dims is not None)
    if is_found and batch_size is not None:
        given = "batch_dims" if batch_dims is not None else "auto_batch_size"
        raise ValueError(f"{cls.__name__}.from_dict: expected batch_size or {given}, got both")
    size = shared_dimensions(cls, values)[:batch_dims] if is_found else as_batch_size(batch_size)
    of_nested: dict[str, Any] = (
        {"auto_batch_size": True, "batch_dims": batch_dims} if is_found else {"batch_size": size}
    )
    fields = {
        name: from_dict(nested_class(cls, name), value, device=device, **of_nested)
        if name in cls._nested
        and name not in cls._collections
        and isinstance(value, Mapping)
        and not is_tensordict(value)
        else _tensordict_of(cls, name, value, size, device)
        if name in cls._collections
        else value
        for name, value in values.items()
    }
    return construct(cls, {**fields, "batch_size": size, "device": device, "names": names})
