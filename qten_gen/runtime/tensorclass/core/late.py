"""Methods whose modules are imported when they are first used, so that a program loads what it uses.

Each late method is an attribute of this module: `of_rename` is the function `rename` of `methods/naming.py`. The first read
imports its file, and puts all late methods of that file into the class. Dynamo reads attributes of modules for real while it
traces; it could trace neither the import nor the change of the class.

Other functions of rare use are reached through their module, which is an attribute too: `late.fields__batch_sizes` is
`fields/batch_sizes.py`. An import statement in a function would take a microsecond each time, as long as it takes to index an
object.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

_PACKAGE = __name__.removesuffix("core.late")

_functions: Any = sys.modules[__name__]
"""This module, whose attributes the functions are."""


class Late:
    """Stands in a class for a method of another module, such as `Late("methods.keys")`, until it is looked up."""

    # Compiled code guards the name, and reads it of the function that has then taken the place.
    __slots__ = ("__name__", "_function", "_module", "_on_class")

    def __init__(self, module: str, function: str = "", *, on_class: bool = False) -> None:
        """`function` defaults to the name of the method. `on_class=True` makes it a class method."""
        self._module = module
        self._function = function
        self._on_class = on_class

    def put(self, owner: type, name: str) -> None:
        """Stand in a class for the method of a name."""
        self.__name__ = name
        stand_in: object = self
        if self._on_class:
            stand_in = classmethod(_calling(name))
        elif name.startswith("__"):
            stand_in = _calling(name)
        setattr(owner, name, stand_in)
        _HOMES[f"of_{name}"] = _Home(owner, name, self._module, self._function or name, stand_in)

    def __get__(self, instance: object, owner: type) -> Any:
        function: Callable[..., Any] = getattr(_functions, f"of_{self.__name__}")
        return function if instance is None else function.__get__(instance)


class _Home(NamedTuple):
    """Where a method belongs, and where its function is: a module below `tensorclass`, and the name in it."""

    owner: type
    method: str
    module: str
    function: str
    stand_in: object
    """The value in its place in the class; a program may exchange that, to test something."""


_HOMES: dict[str, _Home] = {}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None and ("__" not in name or name.startswith("__")):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if home is None:
        found = globals()[name] = import_module(_PACKAGE + name.replace("__", "."))
        return found
    module = import_module(_PACKAGE + home.module)
    for key, each in _HOMES.items():  # the others of the module are there now, and need no look-up either
        if each.module == home.module:
            function = globals()[key] = getattr(module, each.function)
            if vars(each.owner)[each.method] is each.stand_in:
                on_class = isinstance(each.stand_in, classmethod)
                setattr(each.owner, each.method, classmethod(function) if on_class else function)
    return globals()[name]


def bind(owner: type, methods: Mapping[str, str], *, on_class: bool = False) -> None:
    """Give a class late methods, by module: `{"methods.keys": "get_at pop __contains__=contains"}`."""
    for module, names in methods.items():
        for each in names.split():
            name, _, function = each.partition("=")
            Late(module, function, on_class=on_class).put(owner, name)


def import_all(owner: type) -> None:
    """Put all late methods of a class in their places, for tools that show a class with its signatures and documentation."""
    for key, home in [*_HOMES.items()]:
        if home.owner is owner:
            getattr(_functions, key)


def _calling(name: str) -> FunctionType:
    """A function that calls the late one: compiled code calls special methods and class methods only if they are functions.

    The name is part of the code object: dynamo would guard a closure variable, and look for it in the function that has replaced
    this one.
    """
    code = _call.__code__
    names = tuple([f"of_{name}" if each == "of_method" else each for each in code.co_names])
    made = FunctionType(code.replace(co_name=name, co_names=names), globals(), name)
    made.__doc__ = "Imported with its first call, or by `help` of the class, which then shows what it does."
    return made


def _call(self: object, *args: Any, **options: Any) -> Any:
    return _functions.of_method(self, *args, **options)
