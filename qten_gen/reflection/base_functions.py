"""Finds the functions of bases that a class statement calls, as `rules.base_functions` does for text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from ..model import BaseFunction
from ..model.foreign_classes import LAYERS_WITH_ARGUMENTS
from .statement import ClassStatement

_HOOK = "__init_subclass__"
_WITHOUT_HOOK = ("abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions")
"""Packages whose classes have no `__init_subclass__` that takes keywords."""


def subclass_hooks(statement: ClassStatement) -> tuple[BaseFunction, ...]:
    """The `__init_subclass__` of each ancestor of a class that is not created yet."""
    return tuple(
        _as_called(ancestor, getattr(ancestor, _HOOK))
        for ancestor in _ancestors(statement)
        if _HOOK in vars(ancestor) and _package(ancestor) not in _WITHOUT_HOOK
    )


def module_constructor(statement: ClassStatement) -> BaseFunction | None:
    """The `__init__` of the first nn.Module among the ancestors that is neither nn.Module nor declared; None without one."""
    for cls in _ancestors(statement):
        if _package(cls) == "qten_gen" or "_declaration" in vars(cls) or "__init__" not in vars(cls):
            continue
        if not any(map(_is_plain, cls.__mro__[1:])):
            continue
        if _package(cls) == "torch":
            return BaseFunction(cls.__name__, requires=cls.__name__ in LAYERS_WITH_ARGUMENTS)
        return _as_called(cls, _bound(vars(cls)["__init__"]))
    return None


def _ancestors(statement: ClassStatement) -> Iterator[type]:
    found = dict.fromkeys(ancestor for base in statement.bases for ancestor in base.__mro__)
    return (cls for cls in found if "_fingerprint" not in vars(cls))


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def _is_plain(cls: type) -> bool:
    return cls.__module__ == "torch.nn.modules.module" and cls.__name__ == "Module"


def _bound(method: Callable[..., object]) -> Callable[..., object]:
    """The method as an instance has it; None stands for the instance."""
    get = getattr(method, "__get__", None)
    bound: Callable[..., object] = method if get is None else get(object(), object)
    return bound


def _as_called(cls: type, function: Callable[..., object]) -> BaseFunction:
    """What a function takes, without the object or class that it is bound to."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return BaseFunction(cls.__name__, takes_any=True)
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return BaseFunction(
        cls.__name__,
        frozenset(one.name for one in parameters if one.kind in named),
        any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters),
        any(one.default is inspect.Parameter.empty and one.kind not in many for one in parameters),
    )
