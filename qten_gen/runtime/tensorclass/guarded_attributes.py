"""Keeps a user's `__setattr__` and `__getattr__` away from the private attributes of an object.

They are written for fields. Generated code stores a field `tokens` in `_tokens`, and would call a `__setattr__` for each such
attribute; a `__getattr__` would be asked for a slot that is not set yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Final

_MARK: Final = "__guarded__"
"""Attribute of a function made here: the user's own."""


def install(cls: type, private: Collection[str]) -> None:
    """Let a `__setattr__` or `__getattr__` of the class see all attributes but the private ones."""
    names = frozenset(private)
    for name, guard in (("__setattr__", _guarded_set), ("__getattr__", _guarded_get)):
        function = getattr(cls, name, None)
        if function is not None and function is not object.__setattr__:
            type.__setattr__(cls, name, guard(getattr(function, _MARK, function), names))


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
