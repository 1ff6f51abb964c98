"""The properties of fields, which generated classes make of these functions: a field is read, set and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from types import FunctionType
from typing import Any

from torch import Tensor

from ....common.naming import storage
from ..core import late
from ..core.locks import refuse_other
from ..core.stored import Stored
from .tensor import tensor


def tensor_property(name: str, read: Callable[[Any], Any], doc: str) -> property:
    """The property of a field that holds one tensor. What is set has to fit, and is moved to the object's device."""
    return _property(name, read, _named(_set_tensor, name), doc)


def optional_property(name: str, read: Callable[[Any], Any], doc: str) -> property:
    """The property of a field that holds one tensor or None."""
    return _property(name, read, _named(_set_optional, name), doc)


def field_property(name: str, read: Callable[[Any], Any], fit: Callable[[Any, Any], object], doc: str) -> property:
    """The property of a field of another kind, which stores what `fit` makes of the object and the value."""

    def write(self: Any, value: object) -> None:
        if self._lock is not None:
            refuse_other(self, "FIELD", value)
        self._FIELD = fit(self, value)

    return _property(name, read, _named(write, name), doc)


def _set_tensor(self: Any, value: object) -> None:
    if self._lock is not None:
        refuse_other(self, "FIELD", value)
    size = self._batch_size
    if type(value) is not Tensor or value.shape[: len(size)] != size or self._device is not None:
        value = tensor(self, "FIELD", value, size, self._device)
    self._FIELD = value


def _set_optional(self: Any, value: object) -> None:
    if self._lock is not None:
        refuse_other(self, "FIELD", value)
    size = self._batch_size
    if type(value) is not Tensor or value.shape[: len(size)] != size or self._device is not None:
        value = None if value is None else tensor(self, "FIELD", value, size, self._device)
    self._FIELD = value


def _named(setter: Callable[[Any, Any], None], name: str) -> Callable[[Any, Any], None]:
    """A setter above with the name of a field in place of `FIELD`.

    It takes as long as one that is written out for the field. A name in a closure would be two more guards in a graph.
    """
    names = {"_FIELD": storage(name), "FIELD": name}
    code = setter.__code__
    code = code.replace(
        co_names=tuple(names.get(each, each) for each in code.co_names),
        co_consts=tuple(name if each == "FIELD" else each for each in code.co_consts),
    )
    return FunctionType(code, setter.__globals__, closure=setter.__closure__)


def frozen_property(name: str, read: Callable[[Any], Any], doc: str) -> property:
    """The property of a field of a frozen class, which cannot be set."""

    def write(self: Stored, value: object) -> None:
        raise FrozenInstanceError(
            f"cannot assign to {type(self).__name__}.{name}: the class is frozen; use .replace({name}=...)"
        )

    return _property(name, read, write, doc)


def _property(name: str, read: Callable[[Any], Any], write: Callable[[Any, Any], None], doc: str) -> property:
    def delete(self: Stored) -> None:
        late.keys.delete(self, name)

    return property(read, write, delete, doc)
