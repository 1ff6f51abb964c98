"""From objects that name their fields too: dataclass instances and named tuples."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar, cast

from ..core.construction import DeviceLike
from ..core.contents import contents
from ..core.error_text import describe
from ..core.sizes import BatchSize
from ..core.stored import Stored
from ..fields.nested import from_dict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import DataclassInstance




def from_dataclass(
    cls: type[T],
    source: DataclassInstance,
    *,
    auto_batch_size: bool = False,
    batch_size: BatchSize = None,
    device: DeviceLike = None,
    batch_dims: int | None = None,
) -> T:
    """Construct from an instance of any dataclass whose fields have the names of this class's. Tensors are not copied.

    >>> Point = dataclasses.make_dataclass("Point", ["tokens"])
    >>> Batch.from_dataclass(Point(torch.arange(2)), batch_size=2).tokens
    tensor([0, 1])

    Dataclass instances in place of nested objects become those objects. An object of another TensorClass is taken too.

    Args:
        auto_batch_size: Take the leading dimensions that all tensors share as the batch size.
        batch_size: The batch size, where it is not found; nothing is inferred otherwise.
        batch_dims: As `auto_batch_size`, for so many dimensions at most.

    Raises:
        TypeError: `source` is not a dataclass instance, a name is not a field, or a field without default is missing.
        ValueError: both `batch_size` and `auto_batch_size` are given, or a shape does not start with the batch size.
    """
    if not dataclasses.is_dataclass(source) or isinstance(source, type):
        raise TypeError(f"{cls.__name__}.from_dataclass: expected an instance of a dataclass, got {describe(source)}")
    return from_dict(
        cls,
        _values(source),
        batch_size=batch_size,
        device=device,
        auto_batch_size=auto_batch_size or None,
        batch_dims=batch_dims,
    )


def from_namedtuple(
    cls: type[T],
    source: tuple[object, ...],
    *,
    auto_batch_size: bool = False,
    batch_size: BatchSize = None,
    device: DeviceLike = None,
    batch_dims: int | None = None,
) -> T:
    """Construct from a named tuple, as `from_dataclass` does from a dataclass instance; such as `torch.max(x, dim=0)` gives.

    >>> Point = collections.namedtuple("Point", ["tokens"])
    >>> Batch.from_namedtuple(Point(torch.arange(2)), batch_size=2).tokens
    tensor([0, 1])

    Raises:
        TypeError: `source` is not a named tuple, a name is not a field, or a field without default is missing.
        ValueError: both `batch_size` and `auto_batch_size` are given, or a shape does not start with the batch size.
    """
    if _names(source) is None or dataclasses.is_dataclass(source):
        raise TypeError(f"{cls.__name__}.from_namedtuple: expected a named tuple, got {describe(source)}")
    return from_dict(
        cls,
        _values(source),
        batch_size=batch_size,
        device=device,
        auto_batch_size=auto_batch_size or None,
        batch_dims=batch_dims,
    )


def _values(source: object) -> Mapping[str, object]:
    """The values of a record by the names of its fields, records in it as mappings too."""
    return contents(source) if isinstance(source, Stored) else cast("Mapping[str, object]", _as_mapping(source))


def _names(source: object) -> tuple[str, ...] | None:
    """The field names of a record; None of any other value, and of objects of declared classes, which stay what they are."""
    if isinstance(source, (Stored, type)):
        return None
    if dataclasses.is_dataclass(source):
        return tuple(field.name for field in dataclasses.fields(source))
    if not isinstance(source, tuple):
        return None
    # The named tuples that torch returns have another list of their names.
    found = getattr(source, "_fields", None) or getattr(type(source), "__match_args__", None)
    return found if isinstance(found, tuple) else None


def _as_mapping(source: object) -> object:
    """A record as a dict, records in it too; any other value as it is."""
    names = _names(source)
    return source if names is None else {name: _as_mapping(getattr(source, name)) for name in names}
