"""Objects made of mappings from names to values, as `to_dict` returns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from torch import Size, Tensor

from ..core.construction import DeviceLike, construct
from ..core.contents import nested_class
from ..core.dimension_names import NamesLike
from ..core.error_text import abridged, describe, suggestion
from ..core.other_libraries import is_tensordict
from ..core.sizes import BatchSize, common_leading
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)


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
