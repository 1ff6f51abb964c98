"""Methods whose modules are imported when they are first used, so that a program loads what it uses."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from . import late_functions
from .late_functions import Home


class Late:
    """Stands in a class body for a method of another module, such as `Late("methods.keys")`, until it is looked up."""

    # Compiled code guards the name, and reads it of the function that has then taken the place.
    __slots__ = ("__name__", "_function", "_module", "_on_class")

    def __init__(self, module: str, function: str = "", *, on_class: bool = False) -> None:
        """The function is called like the method if no other name is given. A class method is called `on_class`."""
        self._module = module
        self._function = function
        self._on_class = on_class

    def __set_name__(self, owner: type, name: str) -> None:
        self.put(owner, name)

    def put(self, owner: type, name: str) -> None:
        """Stand in a class for the method of a name."""
        self.__name__ = name
        stand_in: object = self
        if self._on_class:
            stand_in = classmethod(_calling(name))
        elif name.startswith("__"):
            stand_in = _calling(name)
        setattr(owner, name, stand_in)
        late_functions.HOMES[f"of_{name}"] = Home(owner, name, self._module, self._function or name, stand_in)

    def __get__(self, instance: object, owner: type) -> Any:
        function: Callable[..., Any] = getattr(late_functions, f"of_{self.__name__}")
        return function if instance is None else function.__get__(instance)


def _calling(name: str) -> FunctionType:
    """A function that calls the late one: compiled code calls special methods and class methods only if they are functions.

    The name is a part of its code: compiled code would guard a variable, and look for that in the function that took the place.
    """
    code = _call.__code__
    names = tuple([f"of_{name}" if each == "of_method" else each for each in code.co_names])
    made = FunctionType(code.replace(co_name=name, co_names=names), globals(), name)
    made.__doc__ = "Imported with its first call, or by `help` of the class, which then shows what it does."
    return made


def _call(self: object, *args: Any, **options: Any) -> Any:
    return late_functions.of_method(self, *args, **options)
