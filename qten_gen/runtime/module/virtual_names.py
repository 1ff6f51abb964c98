"""Which attributes of the module the function of a virtual tensor can read, by the names that its code mentions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType

from ..declaring.fields import Virtual
from .core.module_base import ModuleBase

_ANYTHING = frozenset(
    "__dict__ __getattr__ __getattribute__ attrgetter children config eval exec get_submodule getattr getattr_static hasattr"
    " methodcaller modules named_children named_modules vars".split()
)
"""Names of what reads attributes that the code does not name."""


def attributes_read(module: ModuleBase, function: Callable[..., object]) -> tuple[str, ...] | None:
    """The attributes that a function can read of a module, absent ones that would hide one of the class included.

    Parameters and buffers are left out: `TensorReads` sees those. None where it cannot be told: where the function reads a child
    module, or attributes that it does not name.
    """
    classes = _written_bases(type(module))
    state = vars(module)
    names = _names(function, type(module), classes, state)
    if not names.isdisjoint(_ANYTHING) or not names.isdisjoint(module._modules):
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
) -> set[str]:
    """The names that a function mentions, and those of the methods, and the functions of the same package, that it mentions."""
    package = cls.__module__.partition(".")[0]
    todo: list[object] = [function]
    seen: set[CodeType] = set()
    names: set[str] = set()
    while todo:
        called = _plain_function(todo.pop())
        if called is None or called.__code__ in seen or _is_of_library(_module_of(called)):
            continue
        seen.add(called.__code__)
        mentioned = set(_names_of(called.__code__))
        names |= mentioned
        todo += [vars(base)[name] for base in classes for name in mentioned & vars(base).keys()]
        todo += [state[name] for name in mentioned & state.keys()]
        todo += _virtual_functions(cls, mentioned)
        todo += _closed_over(called)
        todo += _followed(called.__globals__, mentioned, package)
    return names


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


def _names_of(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in code, and in that of the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)


def _closed_over(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that has no value yet
            continue
