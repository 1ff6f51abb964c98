"""To and from NumPy arrays, plain Python numbers, dataclass instances and named tuples."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import torch
from torch import Tensor

from ..core.construction import DeviceLike
from ..core.contents import contents, nested_class
from ..core.error_text import describe
from ..core.sizes import BatchSize
from ..core.stored import Stored
from ..fields.mappings import from_dict
from ..methods.conversion import Rows, converted, rows

if TYPE_CHECKING:
    import numpy as np
    from _typeshed import DataclassInstance

    Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

T = TypeVar("T", bound=Stored)


def numpy(self: Stored, *, force: bool = False) -> dict[str, Any]:
    """The fields as a dict of arrays, nested objects as dicts; None, static and PerItem values as they are.

    Arrays share memory with the tensors, so writes are seen on both sides.

    >>> Batch(torch.arange(2), batch_size=2).numpy()
    {'tokens': array([0, 1]), 'mask': None}

    Args:
        force: Take tensors that have no array as they are too: detached from their history, copied to main memory. Such an array
            shares no memory.

    Raises:
        TypeError: a tensor needs `force`, or has a dtype that NumPy does not know, such as `torch.bfloat16`.
    """
    return converted(self, partial(Tensor.numpy, force=force))


def from_numpy(
    cls: type[T], values: Mapping[str, object], *, batch_size: BatchSize = None, device: DeviceLike = None
) -> T:
    """Construct from a mapping of arrays, as `numpy` returns it.

    >>> import numpy as np
    >>> Batch.from_numpy({"tokens": np.arange(2)}, batch_size=2).tokens
    tensor([0, 1])

    Tensors share memory with the arrays where those are writable and densely laid out, and no device asks for a copy.

    Args:
        values: Mappings in place of nested objects become those objects.
        batch_size: Nothing is inferred: without it the object has no batch dimensions.

    Raises:
        TypeError: a key is not a field, a field without default is missing, or torch has no such dtype.
        ValueError: a shape does not start with the batch size.
    """
    if not isinstance(values, Mapping):
        advice = "of a structured array, {name: array[name] for name in array.dtype.names}"
        raise TypeError(f"{cls.__name__}.from_numpy: expected a mapping of arrays, got {describe(values)}; {advice}")
    return from_dict(cls, _tensors(cls, values), batch_size=batch_size, device=device)


def _tensors(cls: type[Stored], values: Mapping[str, object]) -> dict[str, object]:
    """The values with tensors in the place of arrays; static fields may hold arrays, and keep them."""
    return {
        name: value if name in cls._static or name not in cls._fields else _tensor(cls, name, value)
        for name, value in values.items()
    }


def _tensor(cls: type[Stored], name: str, value: object) -> object:
    """The constructor's argument for a value of `from_numpy`: tensors for arrays, objects for mappings."""
    if name in cls._containers and isinstance(value, Mapping):
        return {key: _tensor(cls, "", array) for key, array in value.items()}
    if name in cls._containers and isinstance(value, list):
        return [_tensor(cls, "", array) for array in value]
    if isinstance(value, Tensor) or not (isinstance(value, Mapping) or hasattr(value, "__array__")):
        return value
    if name in cls._nested and isinstance(value, Mapping):
        return _tensors(nested_class(cls, name), value)
    if isinstance(value, Mapping):
        return value
    # NumPy's numbers, and arrays of other libraries, become arrays.
    array = cast("Array", value).__array__()
    try:
        return torch.from_numpy(array if _is_shareable(array) else array.copy())
    except (TypeError, ValueError) as error:
        raise TypeError(f"{cls.__name__}.{name}: {error}") from error


def _is_shareable(array: Array) -> bool:
    """True if torch can use the memory of an array: it may be written, and its strides are whole items and not negative."""
    return array.flags.writeable and all(step >= 0 and step % max(array.itemsize, 1) == 0 for step in array.strides)


def tolist(self: Stored) -> Rows:
    """The items as dicts of plain Python values, in lists as deep as there are batch dimensions; what JSON can hold.

    >>> Batch(torch.arange(2), batch_size=2).tolist()
    [{'tokens': 0, 'mask': None}, {'tokens': 1, 'mask': None}]

    Static values are the same object in every dict.
    """
    return rows(self, Tensor.tolist)


def from_dataclass(
    cls: type[T],
    source: DataclassInstance | tuple[object, ...],
    *,
    auto_batch_size: bool = False,
    batch_size: BatchSize = None,
    device: DeviceLike = None,
    batch_dims: int | None = None,
) -> T:
    """Construct from an instance of any dataclass, or a named tuple, whose fields have the names of this class's.

    >>> Point = dataclasses.make_dataclass("Point", ["tokens"])
    >>> Batch.from_dataclass(Point(torch.arange(2)), batch_size=2).tokens
    tensor([0, 1])

    Tensors are not copied. Records in place of nested objects become those objects. An object of another TensorClass is taken
    too, and what functions such as `torch.max(x, dim=0)` return. `from_namedtuple` is another name for this.

    Args:
        auto_batch_size: Take the leading dimensions that all tensors share as the batch size.
        batch_size: The batch size, where it is not found; nothing is inferred otherwise.
        batch_dims: As `auto_batch_size`, for so many dimensions at most.

    Raises:
        TypeError: `source` is no such record, a name is not a field, or a field without default is missing.
        ValueError: both `batch_size` and `auto_batch_size` are given, or a shape does not start with the batch size.
    """
    values = contents(source) if isinstance(source, Stored) else _as_mapping(source)
    if values is source:
        expected = "expected an instance of a dataclass or a named tuple"
        raise TypeError(f"{cls.__name__}.from_dataclass: {expected}, got {describe(source)}")
    return from_dict(
        cls,
        cast("Mapping[str, object]", values),
        batch_size=batch_size,
        device=device,
        auto_batch_size=auto_batch_size or None,
        batch_dims=batch_dims,
    )


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
