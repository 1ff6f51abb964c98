"""Fields that hold a TensorDict, or an object of a class that tensordict made: what generated code calls for them.

Such a field stores what it was given, and gives it back. Operations see the object that `entries` makes of it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import torch
from torch import Size, Tensor

from ....common.naming import PRIVATE_NAMES
from ..core.error_text import describe, label
from ..core.stored import Stored
from ..core.tensordict_library import collection_class, is_made_class, is_tensordict, library, made_of
from .batch_sizes import extended
from .tensordict_entries import Entries, collection, entries

if TYPE_CHECKING:
    from tensordict import TensorDictBase

_CONVERTING: Final = ("autocast", "tensor_only")
"""Flags of classes that make a TensorDict of a mapping."""


def held(
    self: Stored, name: str, value: object, batch_size: Size, device: torch.device | None
) -> Any:  # the TensorDict, or the object of the class that the annotation names
    """The value to store in a field that holds a TensorDict: the one given, where its batch size and device fit.

    A lazy stack, or a TensorDict of another kind, becomes a plain one. A shorter batch size is raised in a shallow copy.

    Args:
        value: A TensorDict, or an object of the tensordict class that the annotation names, which is also made of a
            TensorDict. In an `autocast` or `tensor_only` class also a mapping.
        batch_size: The owner's.
        device: The owner's; None leaves the tensors where they are.

    Raises:
        TypeError: it is of another class, or has a key that the object needs itself.
        ValueError: its batch size does not start with the owner's, or a lazy stack holds tensors of several shapes.
    """
    if isinstance(value, Mapping) and not self._flags.isdisjoint(_CONVERTING) and not is_tensordict(value):
        value = _of_mapping(self, name, value, batch_size)
    found: Entries = value if isinstance(value, Entries) else entries(_plain(self, name, value))
    for key in found._fields:
        if key in PRIVATE_NAMES:
            raise TypeError(f"{label(self, name)}: a TensorDict in a field cannot have the key {key!r}; rename it")
    if found._batch_size[: len(batch_size)] != batch_size:
        found = extended(self, name, found, batch_size)
    if device is not None and found._device != device:
        found = found._map_with(Tensor.to, device, device)
    return collection(found)


def _of_mapping(self: Stored, name: str, value: Mapping[str, object], batch_size: Size) -> Any:  # a TensorDict
    """The TensorDict of a mapping's entries.

    Raises:
        ValueError: a tensor's shape does not start with the batch size.
    """
    where = label(self, name)
    try:
        return library(where).TensorDict(dict(value), batch_size=batch_size)
    except RuntimeError as error:
        raise ValueError(f"{where}: {error}") from error


def _plain(self: Stored, name: str, value: object) -> object:
    """The TensorDict to store: dense, and of the class that the field wants."""
    wanted = self._collections[name]
    module, _, last = wanted.rpartition(".")
    if not is_tensordict(value):
        found = describe(value)
        help = "; write value.to_tensordict()" if isinstance(value, Stored) else ""
        raise TypeError(f"{label(self, name)}: expected a {last or 'TensorDict'}, got {found}{help}")
    made = library(label(self, name))
    if wanted:
        known = {f"{cls.__module__}.{cls.__qualname__}" for cls in type(value).__mro__}
        if wanted not in known and not _is_called(value, module, last):
            return _converted(self, name, last, value)
        return value
    return value if made.is_tensorclass(type(value)) else dense(label(self, name), value)


def _converted(self: Stored, name: str, last: str, value: TensorDictBase) -> object:
    """An object of the class that a field wants, with the entries of a TensorDict.

    Raises:
        TypeError: the value is an object of another class, or has other keys.
    """
    where = label(self, name)
    if is_made_class(value):
        raise TypeError(f"{where}: expected a {last}, got {describe(value)}")
    try:
        return cast("object", made_of(collection_class(type(self), name), dense(where, value)))
    except (TypeError, ValueError) as error:
        keys = [*value.keys()]
        raise TypeError(f"{where}: expected a {last}, got a TensorDict with the keys {keys}: {error}") from error


def _is_called(value: object, module: str, name: str) -> bool:
    """Whether a value is of the class that a module knows by a name, though it was defined elsewhere."""
    found = getattr(sys.modules.get(module), name, None)
    return isinstance(found, type) and isinstance(value, found)


def dense(where: str, value: Any) -> Any:
    """A TensorDict of any kind as a plain one, lazy stacks in it included. A plain one is given as it is.

    Raises:
        ValueError: a lazy stack holds tensors of several shapes.
    """
    made = library(where)
    if made.is_tensorclass(type(value)):
        return value
    try:
        parts = {key: value._get_str(key, None) for key in value.keys()}
    except RuntimeError as error:
        advice = "pad the tensors to one shape, or keep the items in a LazyStack"
        raise ValueError(f"{where}: the items of the lazy stack differ in shape; {advice}") from error
    found = {
        key: dense(f"{where}[{key!r}]", part)
        if isinstance(part, made.TensorDictBase) and not _is_python(made, part)
        else part
        for key, part in parts.items()
    }
    if type(value) is made.TensorDict and all(found[key] is part for key, part in parts.items()):
        return value
    return made.TensorDict(found, batch_size=value.batch_size, device=value.device, names=value.names)


def _is_python(made: ModuleType, part: object) -> bool:
    """Whether an entry holds Python values, one for each item or one for all."""
    return isinstance(part, (made.NonTensorStack, made.NonTensorData))
