"""Which attributes of the module the function of a virtual tensor can read, by the names that its code mentions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from ..declaring.virtual_fields import Virtual
from .core.module_base import ModuleBase
from .virtual_code import imports_or_matches, names_of, passes_on

_ANYTHING = frozenset(
    "__dict__ __getattr__ __getattribute__ attrgetter children config eval exec get_submodule getattr getattr_static hasattr"
    " methodcaller modules named_children named_modules vars".split()
)
"""Names of what reads attributes that the code does not name."""

_SHOWING = frozenset({"dir", "format", "print", "repr", "str"})
"""Functions that read the config of a module that they get."""

_WITHOUT_READS = frozenset(
    "__class__ __class_getitem__ __del__ __delattr__ __getattr__ __getattribute__ __getstate__ __init__ __init_subclass__ __new__"
    " __post_init__ __reduce__ __reduce_ex__ __set_name__ __setattr__ __setstate__".split()
)
"""Special methods that do not read the module for the code of a virtual tensor, or that `_names` follows anyway."""


def attributes_read(module: ModuleBase, function: Callable[..., object]) -> tuple[str, ...] | None:
    """The attributes that a function can read of a module, absent ones that would hide one of the class included.

    Parameters and buffers are left out: `TensorReads` sees those. None where that is not known: where the function reads a child
    module, or attributes that it does not name.
    """
    classes = _written_bases(type(module))
    state = vars(module)
    names = _names(function, type(module), classes, state)
    if names is None or not names.isdisjoint(_ANYTHING) or not names.isdisjoint(module._modules):
        return None
    return tuple(sorted(name for name in names if name in state or _can_be_hidden(name, classes)))


def class_attribute(cls: type, name: str) -> object:
    """What stands in the class, or the first of its bases that has it; None where there is none."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _written_bases(cls: type) -> tuple[type, ...]:
    """The classes of a module that its author wrote: neither generated ones nor those of a library."""
    return tuple(
        base
        for base in cls.__mro__
        if base is not object and not _is_of_library(base.__module__) and "_fingerprint" not in vars(base)
    )


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in ("qten_gen", "torch")


def _can_be_hidden(name: str, classes: tuple[type, ...]) -> bool:
    """Whether one of the classes has an attribute that an attribute of the instance takes precedence over."""
    return any(name in vars(cls) and not hasattr(type(vars(cls)[name]), "__set__") for cls in classes)


def _names(
    function: Callable[..., object], cls: type, classes: tuple[type, ...], state: Mapping[str, object]
) -> set[str] | None:
    """The names that a function mentions, and those of the methods, and the functions of the same package, that it mentions.

    Code that gives the module to something else, as `len(self)` and `table(self)` do, reads it through special methods and
    through functions of other packages too. None where they are not known: see `_receivers`.
    """
    package = cls.__module__.partition(".")[0]
    is_passed_on = False
    todo: list[object] = [function, *_special(classes, _is_called_for_absent)]
    seen: dict[CodeType, FunctionType] = {}
    names: set[str] = set()
    while todo or not is_passed_on:
        if not todo:
            if not any(passes_on(code) for code in seen):
                return names
            is_passed_on = True
            todo += _special(classes, _is_called_by_syntax)
            for earlier in seen.values():
                todo += (found := _receivers(earlier, cls)) or ()
                if found is None:
                    return None
            continue
        called = _plain_function(todo.pop())
        if called is None or called.__code__ in seen:
            continue
        todo += _closed_over(called)  # of a library's too: a function that `torch.no_grad()` decorates is in there
        if _is_of_library(_module_of(called)):
            continue
        seen[called.__code__] = called
        mentioned = set(names_of(called.__code__))
        names |= mentioned
        if any(_binds_unknown(vars(base).get(name)) for base in classes for name in mentioned):
            return None
        todo += [vars(base)[name] for base in classes for name in mentioned & vars(base).keys()]
        todo += [state[name] for name in mentioned & state.keys()]
        todo += _virtual_functions(cls, mentioned)
        todo += _followed(called.__globals__, mentioned, package)
        if is_passed_on:
            if (found := _receivers(called, cls)) is None:
                return None
            todo += found
    return names


def _special(classes: tuple[type, ...], wanted: Callable[[str], bool]) -> Iterator[object]:
    """The special methods of classes that code calls without naming them."""
    for cls in classes:
        yield from (value for name, value in vars(cls).items() if wanted(name))


def _is_called_for_absent(name: str) -> bool:
    return name in ("__getattr__", "__getattribute__")


def _is_called_by_syntax(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _WITHOUT_READS


def _binds_unknown(found: object) -> bool:
    """Whether a class attribute gets the instance, and may do anything with it: `partialmethod`, a custom descriptor."""
    if found is None or isinstance(found, type) or _plain_function(found) is not None:
        return False
    return hasattr(type(found), "__get__") and not isinstance(found, property | staticmethod)


def _receivers(function: FunctionType, cls: type) -> list[object] | None:
    """The functions that may get the module from a function which passes it on. None where something else may."""
    names = set(names_of(function.__code__))
    if not names.isdisjoint(_SHOWING) or imports_or_matches(function.__code__):
        return None
    waiting = [function.__globals__[name] for name in names & function.__globals__.keys()]
    waiting += _closed_over(function)
    found: list[object] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, ModuleType):
            if not _is_known(value.__name__):
                waiting += [vars(value)[name] for name in names & vars(value).keys()]
        elif (plain := _plain_function(value)) is not None:
            if not _is_known(_module_of(plain)):
                found.append(plain)
        elif isinstance(value, type):
            if value not in cls.__mro__ and not _is_known(value.__module__):
                return None
        elif isinstance(value, dict | list) or _is_unknown_callable(value):
            return None
    return found


def _is_unknown_callable(value: object) -> bool:
    return callable(value) and not isinstance(value, BuiltinFunctionType) and not _is_known(type(value).__module__)


def _is_known(module: str) -> bool:
    """Whether nothing in a module reads attributes of a module of ours, other than what `_ANYTHING` and `_SHOWING` name."""
    home = module.partition(".")[0]
    return home in ("numpy", "qten_gen", "torch") or home in sys.stdlib_module_names


def _virtual_functions(cls: type, mentioned: set[str]) -> Iterator[object]:
    specifiers: Mapping[str, object] = getattr(cls, "_specifiers", {})
    for name in mentioned & specifiers.keys():
        specifier = specifiers[name]
        if isinstance(specifier, Virtual):
            yield specifier.function


def _followed(scope: Mapping[str, object], mentioned: set[str], package: str) -> Iterator[object]:
    """The functions of a package that code can call by the names that it mentions: its own globals, and those of modules."""
    for name in mentioned & scope.keys():
        found = scope[name]
        inside = [vars(found).get(other) for other in mentioned] if isinstance(found, ModuleType) else [found]
        for function in map(_plain_function, inside):
            if function is not None and _module_of(function).partition(".")[0] == package:
                yield function


def _plain_function(given: object) -> FunctionType | None:
    """The Python function behind a method, a property or a partial; None for anything else."""
    while not isinstance(given, FunctionType):
        match given:
            case staticmethod() | classmethod() | MethodType():
                given = given.__func__
            case property():
                given = given.fget
            case functools.partial() | functools.cached_property():
                given = given.func
            case _:
                return None
    return given


def _module_of(function: FunctionType) -> str:
    return str(function.__globals__.get("__name__"))


def _closed_over(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that has no value yet
            continue
