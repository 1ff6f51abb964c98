"""Names that Module adds to nn.Module's, and that a user class may take.

A class that writes `self.config = config`, registers a buffer `version` or has a child `export` works as an nn.Module, and has to
work as a Module. A name that a class body or an instance binds wins by Python's own rules, because methods are not data
descriptors. What nn.Module keeps in its registries is looked up after the class: there the name steps aside.

A property cannot be set from outside, as any property without a setter. Methods of the module itself may take its name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from torch import nn
from torch.compiler import is_dynamo_compiling

M = TypeVar("M", bound=nn.Module)

_REGISTRIES = ("_parameters", "_buffers", "_modules")
_NOTHING: dict[str, Any] = {}
_ASKING = frozenset(
    {
        ("torch.nn.modules.module", "register_buffer"),
        ("torch.nn.modules.module", "register_parameter"),
        ("torch.nn.modules.module", "add_module"),
        ("torch.nn.utils.parametrize", "_inject_property"),
    }
)
"""The functions that ask whether an attribute exists before they take its name. By name, because tools wrap and rewrite them."""


class Yielding:
    """The descriptor of a function, property or value that is there unless the module has registered something of its name."""

    def __init__(self, name: str, found: Any) -> None:  # what a class can hold is anything
        self.name = name
        self.found = found
        if not isinstance(self, classmethod):  # which says itself what it wraps
            self.__wrapped__ = found
        self.__doc__ = getattr(found, "__doc__", None)

    def __get__(self, module: nn.Module | None, owner: type | None = None) -> Any:
        if module is not None:
            state = module.__dict__
            if self.name in state:  # before a property, Python does not look there
                return state[self.name]
            for registry in _REGISTRIES:
                registered = state.get(registry, _NOTHING)
                if self.name in registered:
                    return registered[self.name]
            if not is_dynamo_compiling() and _is_asked_by_torch():
                raise AttributeError(self.name)  # so that torch takes the name
        found = self.found
        return found.__get__(module, owner) if hasattr(found, "__get__") else found


def _is_asked_by_torch() -> bool:
    """Whether the attribute that is looked up is asked for by a function that is about to take its name."""
    # 1 is the `__get__` of the descriptor; 2 is whoever looks the attribute up.
    frame = sys._getframe(2)
    while frame.f_code.co_name in ("__getattribute__", "__getattr__") and frame.f_back is not None:
        frame = frame.f_back
    return (frame.f_globals.get("__name__"), frame.f_code.co_name) in _ASKING


class YieldingClassMethod(Yielding, classmethod):  # type: ignore[type-arg] # of any arguments
    """The descriptor of a class method, which tools recognise as one."""

    def __init__(self, name: str, found: Any) -> None:
        classmethod.__init__(self, found.__func__)
        super().__init__(name, found)


class YieldingProperty(Yielding):
    """The descriptor of a property: only methods of the module assign something else to its name."""

    def __set__(self, module: nn.Module, value: Any) -> None:
        if self.name not in module.__dict__ and not is_dynamo_compiling() and not _is_set_by_method(module):
            raise AttributeError(
                f"{type(module).__name__}.{self.name} cannot be set, except by a method of the class, which then has its own"
            )
        module.__dict__[self.name] = value

    def __delete__(self, module: nn.Module) -> None:
        if self.name not in module.__dict__:
            raise AttributeError(f"{type(module).__name__}.{self.name} cannot be deleted")
        del module.__dict__[self.name]


def _is_set_by_method(module: nn.Module) -> bool:
    """Whether the assignment that runs stands in a function whose first argument is the module."""
    frame = sys._getframe(2)
    while frame.f_code.co_name == "__setattr__" and frame.f_back is not None:
        frame = frame.f_back
    first = frame.f_code.co_varnames[:1] if frame.f_code.co_argcount else ()
    return any(frame.f_locals.get(name) is module for name in first)


_KINDS: dict[type, type[Yielding]] = {property: YieldingProperty, classmethod: YieldingClassMethod}


def yields_names(*inherited: str) -> Callable[[type[M]], type[M]]:
    """Class decorator: what the class adds to nn.Module gives way to the user's names, and so do these names of its bases."""

    def decorate(cls: type[M]) -> type[M]:
        own = [name for name in vars(cls) if not name.startswith("_") and not hasattr(nn.Module, name)]
        for name in (*own, *inherited):
            found = inspect.getattr_static(cls, name)
            setattr(cls, name, _KINDS.get(type(found), Yielding)(name, found))
        return cls

    return decorate
