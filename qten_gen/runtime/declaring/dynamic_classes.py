"""Classes that no class statement makes: by `types.new_class`, by `type(name, bases, namespace)`, or as a copy of another.

Such a call declares a class where it gives annotations or flags, as a statement does. Without them the class derives from its
bases and declares nothing: so parametrizations and FSDP derive. A copy and what cloudpickle rebuilds have a declaration already.

Generated modules that are no import of a file are here too: copies for one class statement, and modules for what is rendered in
memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Final
from weakref import ref

from ...common.class_body import class_annotations
from ...common.fingerprint_rows import recorded_call
from .class_scope import statement_frame
from .loading import JOINED, LOCK, BrokenModule, is_free


class GeneratedBase:
    """The generated class among the `__orig_bases__` of a class that cannot be imported.

    cloudpickle takes a class apart into its bases and its dict, and sends slots by name only. In the other process, this base
    gives the metaclass the slots in time.
    """

    def __init__(self, cls: type, slots: tuple[str, ...] | None) -> None:
        self.cls = cls
        self.slots = slots

    def __reduce__(self) -> tuple[type[GeneratedBase], tuple[object, ...]]:
        # With arguments: where the two classes refer to each other, a state would come too late.
        return GeneratedBase, (self.cls, self.slots)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type]:
        return (self.cls,)

    def __repr__(self) -> str:
        return self.cls.__name__


def keep_bases(cls: type, bases: tuple[type, ...], generated: type) -> None:
    """Keep in a class what cloudpickle needs to rebuild it."""
    namespace = vars(cls)
    slots = namespace.get("__slots__")
    base = GeneratedBase(generated, None if slots is None else tuple(slots))
    type.__setattr__(cls, "__orig_bases__", (base, *namespace.get("__orig_bases__", bases)))


def is_declaring(namespace: Mapping[str, object], keywords: Mapping[str, object]) -> bool:
    """Return whether a call declares fields, flags or a constructor, and is not a copy of a class that has a declaration."""
    if "_declared_as" in namespace:
        return False
    given = bool(keywords) or "__init__" in namespace or bool(class_annotations(namespace))
    return given or any(recorded_call(value) is not None for value in namespace.values())


def named(metaclass: type, name: str, namespace: Mapping[str, object]) -> dict[str, object]:
    """The namespace with the names that a class statement would have given it."""
    home = statement_frame(metaclass).f_globals.get("__name__", "builtins")
    return {"__module__": home, "__qualname__": name, **namespace}


def rebuilt(namespace: Mapping[str, object]) -> dict[str, object]:
    """The namespace of a copy, or of what cloudpickle rebuilds, with the slots of the original."""
    found = {name: value for name, value in namespace.items() if not isinstance(value, MemberDescriptorType)}
    # `type` makes these for each class.
    for name in ("__dict__", "__weakref__"):
        found.pop(name, None)
    generated = generated_base(namespace)
    if generated is not None and generated.slots is not None:
        found["__slots__"] = generated.slots
    return found


def generated_base(namespace: Mapping[str, object]) -> GeneratedBase | None:
    """The generated class that cloudpickle kept, in the namespace of the class that it rebuilds."""
    bases = namespace.get("__orig_bases__", ())
    given = bases if isinstance(bases, tuple) else ()
    return next((base for base in given if isinstance(base, GeneratedBase)), None)


_SELF = "_module"
"""Global of a module rendered in memory: the module itself, so that its functions keep it."""

_copies = count(1)


def find_beside(module: str, file: str, cls_name: str) -> ModuleType | None:
    """The generated module of a file that is not imported under its own name, as a plugin or by `runpy.run_path`.

    Raises:
        BrokenModule: it exists and executing it failed.
    """
    stem = Path(file).stem
    path = Path(file).with_name("_qten.py" if stem == "__init__" else f"{stem}_qten.py")
    spec = spec_from_file_location(f"{module}_qten", path) if path.is_file() else None
    if spec is None:
        return None
    try:
        with LOCK:
            return _copy_apart(spec, cls_name)
    except Exception as error:
        raise BrokenModule(str(path)) from error


def copy_for(generated: ModuleType, cls_name: str, module: str) -> ModuleType:
    """The copy of a generated module that a class statement may join, because that class has an owner already."""
    spec = generated.__spec__
    assert spec is not None
    with LOCK:
        if module == "__main__":
            return _copy_apart(spec, cls_name)
        return generated if is_free(generated, cls_name, module) else _official_copy(spec)


def _official_copy(spec: ModuleSpec) -> ModuleType:
    """Execute a generated module again after `importlib.reload`. The copy takes the official place.

    So `model_qten.Batch` is the new class, and objects of the old class keep the old module.
    """
    copy = module_from_spec(spec)
    sys.modules[spec.name] = copy
    exec(_code(spec), vars(copy))
    # As an import does: `shop.model_qten` is an attribute of `shop`, too.
    if (parent := sys.modules.get(spec.name.rpartition(".")[0])) is not None:
        setattr(parent, spec.name.rpartition(".")[2], copy)
    return copy


_apart: dict[tuple[str, str | None], ModuleType] = {}


def _copy_apart(spec: ModuleSpec, cls_name: str) -> ModuleType:
    """A copy under a name of its own for all classes of a script or plugin, so that a later import can still use the original.

    Where that class has an owner already the file is executed again, and gets another copy.
    """
    key = spec.name, spec.origin
    copy = _apart.get(key)
    if copy is None or cls_name in vars(copy).get(JOINED, ()):
        copy = module_from_spec(spec)
        copy.__name__ = f"{spec.name}#{next(_copies)}"
        # Not `exec_module`, which asks the loader for the code of the name that the copy has now.
        exec(_code(spec), vars(copy))
        show(copy)
        _apart[key] = copy
    return copy


def _code(spec: ModuleSpec) -> CodeType:
    assert isinstance(spec.loader, InspectLoader)
    code = spec.loader.get_code(spec.name)
    assert code is not None
    return code


def new_module(name: str) -> ModuleType:
    """An empty module for code rendered in memory, which stays as long as a function of it."""
    module = ModuleType(f"{name}#{next(_copies)}")
    vars(module)[_SELF] = module
    return module


class Window(ModuleType):
    """The entry in `sys.modules` for a generated module that cannot be imported: the globals that dynamo looks up there.

    It keeps no class alive. The generated classes are not among its names, so that cloudpickle, which takes what it finds there
    for something that other processes can import, sends them whole.
    """

    def __init__(self, name: str, namespace: Callable[[], Mapping[str, object]]) -> None:
        super().__init__(name)
        self._namespace: Final = namespace

    def __getattr__(self, name: str) -> object:
        found = None if name.startswith("__") else self._namespace().get(name)
        if found is None or (isinstance(found, type) and found.__module__ == self.__name__):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return found


def show(module: ModuleType) -> None:
    """Put the window of an executed module into `sys.modules`."""
    found = ref(module)
    window = Window(module.__name__, lambda: {} if (alive := found()) is None else vars(alive))
    # What stands there before a class joins is found without a call.
    for name, value in vars(module).items():
        if name not in (_SELF, "__getattr__") and getattr(value, "__module__", None) != module.__name__:
            vars(window)[name] = value
    sys.modules[module.__name__] = window


def show_rebuilt(generated: type) -> None:
    """Put a window into `sys.modules` for a generated class that another process sent, whose functions may still be to come."""
    found = ref(generated)

    def namespace() -> Mapping[str, object]:
        functions = (value for value in vars(found() or object).values() if isinstance(value, FunctionType))
        return next((function.__globals__ for function in functions), {})

    # Where the class came back to the process that made it, the window is there.
    sys.modules.setdefault(generated.__module__, Window(generated.__module__, namespace))
