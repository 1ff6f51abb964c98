"""The generated modules of a running program: finding them, giving each class statement a copy of its own, binding names in them.

A generated module imports no user module. The classes that its functions build and check (`Batch`, a nested `Point`) are
globals which the class statements put there: `publish` when a class is complete, `bind` when one class needs another.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import ModuleType
from weakref import WeakValueDictionary

from ...common.header import Header, read_header
from ...common.naming import own_global

JOINED = "_joined"
"""Global of a generated module: the names of the classes whose statements joined it."""
_AS_WRITTEN = "_as_written"
"""Global of a generated module: whether its text is unedited, once that was asked for."""
LOCK = RLock()
_declared: WeakValueDictionary[str, type] = WeakValueDictionary()
_waiting: dict[str, list[tuple[dict[str, object], str]]] = {}


class BrokenModule(Exception):
    """A generated module exists and cannot be imported; the cause says why."""


def real_name(module: str) -> str:
    """The import name of a module. That of `__main__` is the one `python -m` was given, or the name of the script's file."""
    if module != "__main__":
        return module
    main = sys.modules["__main__"]
    spec: ModuleSpec | None = getattr(main, "__spec__", None)
    if spec is not None:
        return spec.name
    script: str | None = getattr(main, "__file__", None)
    return module if script is None else Path(script).stem


def real_qualified(name: str) -> str:
    """The qualified name of a class, with the import name of its module in place of `__main__`."""
    own = name.removeprefix("__main__.")
    return name if own == name else f"{real_name('__main__')}.{own}"


def output_name(module: str) -> str:
    """Name of the module generated for `module`: `shop.model_qten`, or `shop._qten` for the package `shop`.

    >>> output_name("shop.model")
    'shop.model_qten'
    """
    loaded = sys.modules.get(module)
    # Only packages have a path; the module is loaded, because its class statement runs.
    if hasattr(loaded, "__path__"):
        return f"{module}._qten"
    return f"{module}_qten"


def find(module: str) -> ModuleType | None:
    """The module generated for `module`, imported, or None where there is none.

    Raises:
        BrokenModule: it exists and importing it failed.
    """
    name = output_name(module)
    try:
        if name not in sys.modules and find_spec(name) is None:
            return None
    except (ImportError, ValueError):
        return None
    try:
        # Also where it is loaded: another thread may not have finished executing it.
        return import_module(name)
    except Exception as error:
        raise BrokenModule(name) from error


def is_as_written(generated: ModuleType) -> bool:
    """Return whether the text of a generated module is the one that qten-gen wrote, as its header says; also if there is no text.

    A merge may mix the generated code of two declarations, and the fingerprint that it leaves may be the right one's.
    """
    names = vars(generated)
    if _AS_WRITTEN not in names:
        path = str(names.get("__file__"))
        try:
            # Asked of the loader: in a zip file there is no path to open. Nobody edits a .pyc that has no text.
            header = read_header(names["__loader__"].get_data(path)) if path.endswith(".py") else _NO_TEXT
        except (AttributeError, KeyError, OSError):  # a loader of another kind, or a file that is gone
            header = _NO_TEXT
        names[_AS_WRITTEN] = header is not None and header.intact
    return bool(names[_AS_WRITTEN])


_NO_TEXT = Header("", 0, intact=True)


def is_free(generated: ModuleType, cls_name: str, module: str) -> bool:
    """Return whether a class statement may join a generated module, and needs no copy of its own."""
    owner = vars(generated).get(cls_name) if cls_name in vars(generated).get(JOINED, ()) else None
    return module != "__main__" and (owner is None or getattr(owner, "__module__", None) != module)


def plain_name(module: str) -> str:
    """The name of a generated module, without the number of a copy.

    >>> plain_name("shop.model_qten#2")
    'shop.model_qten'
    """
    return module.partition("#")[0]


def is_importable(cls: type) -> bool:
    """Return whether another process finds the class under its module and name, so that pickles name it and no more."""
    return cls.__module__ in sys.modules and cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__


def publish(cls: type, *modules: ModuleType) -> bool:
    """Make a complete class known: as a global of its generated modules, and to what waits for it.

    Returns whether a class of that name was known before, as it is when a module is executed again.
    """
    key = f"{real_name(cls.__module__)}.{cls.__qualname__}"
    with LOCK:
        for module in modules:
            vars(module)[cls.__name__] = vars(module)[own_global(cls.__name__)] = cls
            vars(module).setdefault(JOINED, set()).add(cls.__name__)
        again = key in _declared
        _declared[key] = cls
        for namespace, name in _waiting.pop(key, []):
            namespace[name] = cls
    return again


def bind(module: ModuleType, name: str, target: type | None, qualified: str, *, again: bool = False) -> None:
    """Give generated code the class `name`: now where it exists, or as soon as `qualified` is declared.

    With `again` the class that exists may stem from an earlier execution, and the next one that is declared takes its place.
    """
    namespace = vars(module)
    with LOCK:
        qualified = real_qualified(qualified)
        target = target or _declared.get(qualified)
        if target is not None:
            namespace[name] = target
        else:
            namespace.setdefault(name, Undeclared)
        joined = target is not None and target.__name__ in namespace.get(JOINED, ()) and namespace[target.__name__]
        if target is None or (again and joined is not target):  # one that joined this copy belongs to this execution
            _waiting.setdefault(qualified, []).append((namespace, name))


class Undeclared:
    """Stands for a class whose module was not imported yet: nothing is an instance of it."""


def declared(module: str, name: str) -> object:
    """`__getattr__` of a generated module: import the source, whose class statements put their classes here.

    Raises:
        AttributeError: the source declares no such class.
        ImportError: the source is gone.
    """
    if name == "__all__":
        return _offered(module)
    if not name.startswith("_"):
        _imported(source_name(module), module)
        # Under the name, because a module that is executed again has a copy there, which the classes joined.
        found = vars(sys.modules[module]).get(name)
        if found is not None:
            return found
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def _offered(module: str) -> list[str]:
    """The names that `from model_qten import *` takes, as from the stub: the declared classes."""
    _imported(source_name(module), module)
    return sorted(name for name in vars(sys.modules[module]).get(JOINED, ()) if not name.startswith("_"))


def _imported(source: str, module: str) -> ModuleType:
    """The source of a generated module.

    Raises:
        ImportError: it is gone.
    """
    try:
        return import_module(source)
    except ModuleNotFoundError as error:
        # The source is there, and something that it imports is missing.
        if error.name != source:
            raise
        gone = f"{plain_name(module)} was generated from {source}, which does not exist any more; run: qten-gen"
        raise ImportError(gone, name=source) from None


def source_name(module: str) -> str:
    """The module that a generated module was made from.

    >>> source_name("shop.model_qten"), source_name("shop._qten")
    ('shop.model', 'shop')
    """
    return plain_name(module).removesuffix("_qten").removesuffix(".")


def bound_name(reference: str) -> str:
    """The global that a reference of generated code is bound to.

    >>> bound_name(".base:Point"), bound_name(".base:Point as base_Point")
    ('Point', 'base_Point')
    """
    return reference.rpartition(":")[2].rpartition(" as ")[2]


def resolve_reference(reference: str, module: str) -> str:
    """The qualified name of a reference as generated code writes it: `Point` in the same file, `.base:Point` beside it.

    >>> resolve_reference(".base:Point", "shop.model"), resolve_reference("other:Point", "shop.model")
    ('shop.base.Point', 'other.Point')
    """
    home, _, name = reference.partition(" as ")[0].rpartition(":")
    if not home:
        return f"{module}.{name}"
    if home.startswith("."):
        home = f"{module.rpartition('.')[0]}{home}".lstrip(".")
    return f"{home}.{name}"
