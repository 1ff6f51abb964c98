"""Attributes of objects that are not fields, and the author's `__setattr__` and `__getattr__`, which see no private ones."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, Final

from ....common.naming import storage
from .stored import Stored


def places_beside_fields(cls: type, private: Collection[str]) -> tuple[str, ...]:
    """Where objects of a class keep attributes that are not fields: other slots, and `__dict__`; nowhere in the usual class."""
    names: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined] # undocumented, but what pickle itself uses
    found = tuple(name for name in names if name not in private)
    return (*found, "__dict__") if cls.__dictoffset__ else found


def beside_fields(self: Stored) -> dict[str, object]:
    """The attributes of an object that are neither fields nor the runtime's own, by name."""
    found: dict[str, object] = {}
    for name in type(self).__attribute_places__:
        if name == "__dict__":
            private = {*Stored.__slots__, *map(storage, self._fields)}
            found |= {key: value for key, value in vars(self).items() if key not in private}
        elif hasattr(self, name):
            found[name] = getattr(self, name)
    return found


def store_beside(self: Stored, attributes: Mapping[str, object]) -> None:
    """Give an object such attributes. A frozen object takes them too."""
    for name, value in attributes.items():
        object.__setattr__(self, name, value)


_MARK: Final = "__guarded__"
"""Attribute of a function made here: the user's own."""


def guard(cls: type, private: Collection[str]) -> None:
    """Let the author's `__setattr__` or `__getattr__` see all attributes but the private ones.

    They are written for fields. Generated code stores a field `tokens` in `_tokens`, and would call a `__setattr__` for each such
    attribute; a `__getattr__` would be asked for a slot that is not set yet.
    """
    names = frozenset(private)
    for name, guarded in (("__setattr__", _guarded_set), ("__getattr__", _guarded_get)):
        function = getattr(cls, name, None)
        if function is not None and function is not object.__setattr__:
            type.__setattr__(cls, name, guarded(getattr(function, _MARK, function), names))


def _guarded_set(function: Callable[[Any, str, Any], None], private: frozenset[str]) -> Callable[[Any, str, Any], None]:
    @wraps(function)
    def __setattr__(self: object, name: str, value: object) -> None:
        if name in private:
            object.__setattr__(self, name, value)
        else:
            function(self, name, value)

    setattr(__setattr__, _MARK, function)
    return __setattr__


def _guarded_get(function: Callable[[Any, str], Any], private: frozenset[str]) -> Callable[[Any, str], Any]:
    @wraps(function)
    def __getattr__(self: object, name: str) -> object:
        if name in private:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found: object = function(self, name)
        return found

    setattr(__getattr__, _MARK, function)
    return __getattr__
