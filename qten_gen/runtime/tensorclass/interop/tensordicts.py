"""To and from the TensorDicts of the package `tensordict`, which is imported when one is asked for and not before."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor

from ..core import other_libraries
from ..core.construction import construct
from ..core.contents import contents, nested_class, tensors_of
from ..core.error_text import describe, suggestion
from ..core.other_libraries import bare, carried, is_tensordict
from ..core.stored import Stored
from ..fields.per_item import PerItem
from ..fields.static import unwrapped

if TYPE_CHECKING:
    from tensordict import TensorDict, TensorDictBase

    from ...declaring.declared_class import FieldSummary

T = TypeVar("T", bound=Stored)


def to_tensordict(self: Stored, *, retain_none: bool = True) -> TensorDict:
    """The fields as a `tensordict.TensorDict` with the same batch size, device and names; nested objects become TensorDicts.

    Tensors are shared, not copied. A static value becomes a `NonTensorData`, an Unbatched tensor an `UnbatchedTensor`, a dict or
    list of tensors a TensorDict, which has the positions of a list as its keys, and values of items a `NonTensorStack`.

    >>> Batch(torch.arange(2), batch_size=2).to_tensordict(retain_none=False)["tokens"]
    tensor([0, 1])

    Args:
        retain_none: Whether fields that are None are entries of the result. Without them `from_tensordict` gives such a field its
            default, which need not be None.

    Raises:
        ImportError: tensordict is not installed.
    """
    library = other_libraries.library(f"{type(self).__name__}.to_tensordict")
    entries = {
        name: _entry(library, self, name, value, retain_none)
        for name, value in contents(self).items()
        if value is not None or retain_none
    }
    made: TensorDict = library.TensorDict(
        entries, batch_size=self._batch_size, device=self._device, names=self._names and list(self._names)
    )
    return made


def _entry(library: ModuleType, self: Stored, name: str, value: object, retain_none: bool) -> object:
    """A field's value as a TensorDict holds it."""
    if isinstance(value, PerItem):
        return _stacked(library, value)
    if value is None or name in self._static:
        return library.NonTensorData(value, batch_size=self._batch_size, device=self._device)
    if name in self.__ragged__:
        return _jagged(f"{type(self).__name__}.{name}", value)
    if isinstance(value, Stored):
        return to_tensordict(value, retain_none=retain_none)
    hold = library.UnbatchedTensor if name in self._unbatched else carried
    if name not in self._containers:
        return cast("object", hold(value))
    keys = value if isinstance(value, dict) else map(str, range(len(tensors_of(value))))
    entries = {key: hold(tensor) for key, tensor in zip(keys, tensors_of(value), strict=True)}
    return library.TensorDict(entries, batch_size=self._batch_size, device=self._device)


def _jagged(where: str, value: Any) -> object:
    """Items of different lengths: a jagged nested tensor, or a TensorDict of these."""
    if len(value._batch_size) != 1:
        raise TypeError(
            f"{where}: a TensorDict holds Ragged items of one batch dimension, got {list(value._batch_size)}"
        )
    offsets = value.offsets
    if isinstance(value.rows, Tensor):
        return value.as_nested()
    return to_tensordict(value.rows).apply(
        lambda tensor: torch.nested.nested_tensor_from_jagged(tensor, offsets), batch_size=value._batch_size
    )


def _from_jagged(cls: type[Any], entry: Any, safe: bool) -> object:
    """The items of a TensorDict of jagged nested tensors."""
    offsets: Tensor = next(iter(entry.values(include_nested=True, leaves_only=True))).offsets()
    rows = entry.apply(Tensor.values, batch_size=[int(offsets[-1])])
    return cls(from_tensordict(cls.rows_class, rows, safe=safe), offsets.diff())


def _stacked(library: ModuleType, value: PerItem[Any]) -> object:
    """One `NonTensorData` for each item, in stacks for the batch dimensions. Values may be lists themselves."""
    if not value.batch_size:
        return library.NonTensorData(value.item())
    return library.NonTensorStack(*[_stacked(library, item) for item in value], stack_dim=0)


def from_tensordict(
    cls: type[T], tensordict: TensorDictBase, non_tensordict: Mapping[str, object] | None = None, safe: bool = True
) -> T:
    """Construct from a TensorDict, with its batch size, device and names. Tensors are shared, not copied.

    >>> from tensordict import TensorDict
    >>> Batch.from_tensordict(TensorDict(tokens=torch.arange(2), batch_size=[2])).batch_size
    torch.Size([2])

    TensorDicts in it become the objects that the annotations of nested fields name. A field that is not in it gets its default,
    or None where it is optional.

    Args:
        tensordict: A TensorDict of any kind, or an object of a class that tensordict made.
        non_tensordict: Values of fields that are not in `tensordict`: static ones, or nested objects.
        safe: Whether an entry that is not a field is an error; otherwise it is left out.

    Raises:
        TypeError: `tensordict` is none; an entry is not a field; a field without default is missing, or its value is of another
            type.
        ValueError: a shape does not start with the batch size, a field is given twice, or a static value is not the same
            for all items.
    """
    where = f"{cls.__name__}.from_tensordict"
    if not is_tensordict(tensordict):
        raise TypeError(
            f"{where}: expected a TensorDict, got {describe(tensordict)}; for other mappings use .from_dict"
        )
    plain = tensordict if other_libraries.is_made_class(tensordict) else _dense(where, tensordict)
    entries: dict[str, object] = {key: plain.get(key) for key in plain.keys()}
    for name, value in (non_tensordict or {}).items():
        if name in entries:
            raise ValueError(f"{where}: {name!r} is given twice, in the TensorDict and in non_tensordict")
        entries[name] = value
    unknown = next((name for name in entries if name not in cls._fields), None)
    if safe and unknown is not None:
        raise TypeError(
            f"{where}: no field {unknown!r}{suggestion(unknown, cls._fields)}; safe=False ignores keys that are not fields"
        )
    size = tensordict.batch_size
    values = {name: _field_value(cls, name, entries[name], safe) for name in cls._fields if name in entries}
    declared = _declared(cls)
    for name in cls._fields:
        if name not in values and name not in cls._defaults:
            if not declared[name].optional:
                raise TypeError(f"{where}: missing {name!r}")
            values[name] = None
    shape = {"batch_size": size, "device": tensordict.device, "names": tensordict.names}
    return construct(cls, {**values, **shape})


def _field_value(cls: type[Stored], name: str, entry: Any, safe: bool) -> object:
    """The value of a field that a TensorDict's entry stands for. The constructor converts the values of items."""
    if name in cls._per_item:
        return None if getattr(entry, "data", entry) is None else entry
    found = unwrapped(f"{cls.__name__}.{name}", entry)
    if found is not entry:
        return found
    if name in cls.__ragged__ and is_tensordict(entry):
        return _from_jagged(nested_class(cls, name), entry, safe)
    if name in cls._nested and is_tensordict(entry):
        return from_tensordict(nested_class(cls, name), entry, safe=safe)
    if name in cls._containers and is_tensordict(entry):
        tensors = {key: carried(bare(tensor)) for key, tensor in entry.items()}
        return list(tensors.values()) if _declared(cls)[name].container == "list" else tensors
    return carried(bare(entry))


def _dense(where: str, value: Any) -> Any:
    """A TensorDict of any kind as a plain one, lazy stacks in it included. A plain one is given as it is.

    Raises:
        ValueError: a lazy stack holds tensors of several shapes.
    """
    library = other_libraries.library(where)
    if library.is_tensorclass(type(value)):
        return value
    try:
        parts = {key: value._get_str(key, None) for key in value.keys()}
    except RuntimeError as error:
        advice = "pad the tensors to one shape, or keep the items in a list"
        raise ValueError(f"{where}: the items of the lazy stack differ in shape; {advice}") from error
    python = (library.NonTensorStack, library.NonTensorData)
    found = {
        key: _dense(f"{where}[{key!r}]", part)
        if isinstance(part, library.TensorDictBase) and not isinstance(part, python)
        else part
        for key, part in parts.items()
    }
    if type(value) is library.TensorDict and all(found[key] is part for key, part in parts.items()):
        return value
    return library.TensorDict(found, batch_size=value.batch_size, device=value.device, names=value.names)


def _declared(cls: type[Stored]) -> dict[str, FieldSummary]:
    """The class's fields by name, as declared."""
    return {field.name: field for field in cls._declared_as.fields}
