"""IPython's `%autoreload`, for declared classes: the new class takes the place of the old one, as a whole.

IPython changes old classes in place, attribute by attribute. That makes a declared class a mixture, with the constructor of the
new declaration and the slots of the old one. Since IPython 9 it does not even run a class statement when a default or a method
changes, so that a new default becomes an attribute of the class, which the constructor does not know. So once a class is
declared in IPython, files with declared classes are executed as a whole, and their classes are replaced: in the notebook, in
modules that imported them, and in objects where Python allows that.
"""

from __future__ import annotations

import gc
import sys
import warnings
from types import FunctionType, ModuleType
from typing import Any

from .declared_class import DeclaredClass

_installed = False


def install() -> None:
    """Tell IPython, in which the program runs, what to do with declared classes. Does nothing the second time."""
    global _installed
    if _installed:
        return
    _installed = True
    try:
        from IPython.extensions import autoreload

        rules: list[Any] = autoreload.UPDATE_RULES
    except (ImportError, AttributeError):  # another IPython: then it does what it does
        return
    # IPython takes the first rule that fits, and has one of its own for classes.
    rules.insert(0, (_both_declared, replace_class))
    reloader: Any = getattr(autoreload, "DeduperReloader", None)
    if hasattr(reloader, "maybe_reload_module"):
        reloader.maybe_reload_module = _never_in_parts(reloader.maybe_reload_module)
    modules: Any = getattr(autoreload, "ModuleReloader", None)
    if hasattr(modules, "filename_and_mtime"):
        modules.filename_and_mtime = _not_of_generated(modules.filename_and_mtime)


def _both_declared(old: object, new: object) -> bool:
    return isinstance(old, DeclaredClass) and isinstance(new, DeclaredClass)


def _never_in_parts(reload: Any) -> Any:
    """`DeduperReloader.maybe_reload_module`, which executes single definitions of a file, for files without declared classes."""

    def maybe_reload_module(self: Any, module: ModuleType) -> bool:
        if any(
            isinstance(found, DeclaredClass) and found.__module__ == module.__name__ for found in vars(module).values()
        ):
            # IPython then executes the whole file.
            return False
        done: bool = reload(self, module)
        return done

    return maybe_reload_module


def _not_of_generated(find: Any) -> Any:
    """`ModuleReloader.filename_and_mtime`, which finds no file to watch for a generated module.

    A class statement that runs again takes what its file then holds. Executed alone, the module would lose the classes that
    joined it.
    """

    def filename_and_mtime(self: Any, module: ModuleType | None) -> Any:
        runtime = getattr(module, "__dict__", {}).get("_rt", module)
        return (None, None) if runtime is sys.modules.get("qten_gen.runtime.generated") else find(self, module)

    return filename_and_mtime


def replace_class(old: type, new: type) -> None:
    """Put a class in the place of the one that it was before its file changed.

    Objects become objects of the new class where Python allows it. Others keep the old one, with the new code of its methods.
    """
    if old is new:
        return
    _take_methods(old, new)
    kept = 0
    for found in gc.get_referrers(old):
        if isinstance(found, dict) and _is_namespace(found):
            found.update({name: new for name, value in found.items() if value is old})
        elif type(found) is old:
            try:
                # A frozen class and nn.Module have a `__setattr__` of their own.
                object.__setattr__(found, "__class__", new)
            except TypeError:
                kept += 1
    if kept:
        objects = "one object keeps" if kept == 1 else f"{kept} objects keep"
        warnings.warn(
            f"{new.__module__}.{new.__qualname__} was declared again, and {objects} the old class: make them again",
            stacklevel=2,
        )


def _take_methods(old: type, new: type) -> None:
    """Give the functions that the statement of `old` wrote the code of those in `new`."""
    for name, function in vars(old).items():
        found = vars(new).get(name)
        if (
            isinstance(function, FunctionType)
            and isinstance(found, FunctionType)
            # A function from elsewhere may be used there too.
            and function.__code__.co_qualname == found.__code__.co_qualname == f"{old.__qualname__}.{name}"
            # Python refuses code with another number of free variables.
            and len(function.__code__.co_freevars) == len(found.__code__.co_freevars)
        ):
            function.__code__ = found.__code__
            function.__defaults__, function.__kwdefaults__ = found.__defaults__, found.__kwdefaults__


def _is_namespace(found: dict[str, object]) -> bool:
    """Return whether a dict holds the globals of a module, or the names of the notebook."""
    module = sys.modules.get(str(found.get("__name__")))
    return module is not None and vars(module) is found
