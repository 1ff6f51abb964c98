"""Methods and modules that are imported when they are first used, so that a program loads what it uses.

A late method has a stand-in in its class. The first look-up imports the method's module, and puts the functions of that module in
the place of their stand-ins. All late methods are put in place before torch.compile is imported: dynamo looks methods up while it
traces, a second time where the graph breaks, and must find the class as it was.

A late module is an attribute of this one: `late.nested` is `fields/nested.py`. An import statement in a function would
take a microsecond each time, as long as it takes to index an object. Dynamo reads attributes of modules for real.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

_PACKAGE = __name__.removesuffix("core.late")
_MODULES = {
    "batch_sizes": "fields.batch_sizes",
    "containers": "fields.dicts_and_lists",
    "json_values": "storage.json_values",
    "keys": "methods.keys",
    "memory_map": "storage.memory_map",
    "nested": "fields.nested",
    "packing": "torch_tools.packing",
    "per_item": "fields.per_item",
    "primitives": "primitives",
    "ragged": "ragged",
    "same_values": "fields.same_values",
    "tensor": "fields.tensor",
    "tensordicts": "interop.tensordicts",
    "uncommon_trees": "torch_tools.uncommon_trees",
}
"""The late modules. Imports for checkers would point from the core to rooms that stand on it."""

_COMPILER = "torch._dynamo"
"""What torch.compile and torch.export import first, and optimizers, which ask it not to trace them."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = import_module(_PACKAGE + _MODULES[name])
    return found


class Late:
    """Stands in a class for a function of a module below `tensorclass`, until the method is looked up."""

    __slots__ = ("function", "module", "name", "on_class", "owner")

    def __init__(self, owner: type, name: str, module: str, function: str = "", *, on_class: bool = False) -> None:
        """`function` defaults to the name of the method. `on_class=True` makes it a class method."""
        self.owner = owner
        self.name = name
        self.module = module
        self.function = function or name
        self.on_class = on_class
        setattr(owner, name, self)
        _STAND_INS.setdefault(module, []).append(self)

    def __get__(self, instance: object, owner: type) -> Any:
        _put_in_place(self.module)
        return self.method().__get__(instance, owner)

    def method(self) -> Any:
        """The function that belongs in the class, or its class method."""
        functions = vars(import_module(_PACKAGE + self.module))
        function = functions.get("METHODS", functions)[self.function]  # the operations have a table of them
        return classmethod(function) if self.on_class else function


_STAND_INS: dict[str, list[Late]] = {}
"""All stand-ins, by module."""


def bind(owner: type, methods: Mapping[str, str], *, on_class: bool = False) -> None:
    """Give a class late methods, by module: `{"methods.keys": "get_at pop __contains__=contains"}`."""
    for module, names in methods.items():
        for each in names.split():
            name, _, function = each.partition("=")
            Late(owner, name, module, function, on_class=on_class)


def put_all_in_place() -> None:
    """Import all late methods, and compile all primitives.

    This is done before torch.compile, and for tools that show a class with its signatures and documentation.
    """
    for module in _STAND_INS:
        _put_in_place(module)
    __getattr__("primitives").put_all_in_place()


def is_compiler_imported() -> bool:
    """True if torch.compile may trace, so that classes have to stay as they are."""
    return _COMPILER in sys.modules


def prepare_for_compiler() -> None:
    """Import all late methods before torch.compile is imported, or now if it is. For a class that has its late methods."""
    if is_compiler_imported():
        put_all_in_place()
    elif not any(isinstance(each, _BeforeCompiler) for each in sys.meta_path):
        sys.meta_path.insert(0, _BeforeCompiler())


def _put_in_place(module: str) -> None:
    for each in _STAND_INS[module]:
        if vars(each.owner)[each.name] is each:  # a program may have put another in its place, to test something
            setattr(each.owner, each.name, each.method())


class _BeforeCompiler:
    """Finds no module, but sees which one is about to be imported."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == _COMPILER:
            put_all_in_place()
