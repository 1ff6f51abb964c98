"""Methods of rare use, whose modules most programs never load."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Late:
    """Stands in a class for a method until it is looked up: then its module is imported, and the method takes its place.

    Only for methods that compiled code has no use for, because it could not trace the import: files, processes, other libraries.
    """

    __slots__ = ("_function", "_module", "_name", "_owner")

    def __init__(self, module: str, function: str = "") -> None:
        """The module is `storage.memory_map` or the like. The function is called like the method if no other name is given."""
        self._module = module
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type) -> Any:
        found = getattr(import_module(f"{_PACKAGE}.{self._module}"), self._function or self._name)
        setattr(self._owner, self._name, found)
        return found.__get__(instance, owner)


_PACKAGE = __name__.removesuffix(".core.late")
