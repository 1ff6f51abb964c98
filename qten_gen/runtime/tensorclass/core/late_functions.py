"""The functions behind late methods, as attributes: `of_rename` is the function `rename` of `methods/naming.py`.

When one is first read, its module is imported, and all late methods of the module take their places in the class. Dynamo reads
attributes of modules for real while it traces; it could trace neither the import nor the change of the class.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Home(NamedTuple):
    """Where a method belongs, and where its function is: a module below `tensorclass`, and the name in it."""

    owner: type
    method: str
    module: str
    function: str
    stand_in: object
    """What the class has in its place; a program may exchange that, to test something."""


HOMES: dict[str, Home] = {}

_PACKAGE = __name__.removesuffix("core.late_functions")


def __getattr__(name: str) -> Callable[..., Any]:
    home = HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PACKAGE + home.module)
    for key, each in HOMES.items():
        if each.module == home.module:
            function = globals()[key] = getattr(module, each.function)
            if vars(each.owner)[each.method] is each.stand_in:
                on_class = isinstance(each.stand_in, classmethod)
                setattr(each.owner, each.method, classmethod(function) if on_class else function)
    found: Callable[..., Any] = globals()[name]
    return found


def import_all(owner: type) -> None:
    """Put all late methods of a class in their places, for tools that show a class with its signatures and documentation."""
    for key, home in [*HOMES.items()]:
        if home.owner is owner and key not in globals():
            __getattr__(key)
