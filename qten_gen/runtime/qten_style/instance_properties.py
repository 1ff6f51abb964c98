"""Properties that some instances of a class have.

An attribute that is neither a plain value nor registered by nn.Module needs a property, and a property belongs to a class. The
property here asks for each instance whether the attribute is one of its kind, and behaves as if it were not there otherwise.
Several kinds can share a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

ABSENT = object()
"""Stands for an attribute that is not there."""


class Kind(NamedTuple):
    """The behaviour of a kind of attribute, given the module and the name.

    `read` gives the value, or ABSENT. `make_way` is called before another value takes the name: it clears what is stored, or
    raises; True means that the value itself is what it keeps. `remove` deletes the attribute; False if it is not of this kind.
    """

    read: Callable[[nn.Module, str], object]
    make_way: Callable[[nn.Module, str, object], bool]
    remove: Callable[[nn.Module, str], bool]


class InstanceProperty(property):
    """The property for one name, with the kinds that instances have under it."""

    name: str
    kinds: list[Kind]
    otherwise: object

    def __reduce__(self) -> tuple[Callable[..., InstanceProperty], tuple[object, ...]]:
        """cloudpickle sends classes that cannot be imported whole."""
        behind = () if self.otherwise is ABSENT else (self.otherwise,)
        return _property, (self.name, self.kinds, *behind)


def give(cls: type, name: str, kind: Kind) -> bool:
    """Give a class a property for `name`; False if it has one of its own, which no instance property can replace."""
    found = class_attribute(cls, name)
    if isinstance(found, InstanceProperty):
        if kind not in found.kinds:
            found.kinds.append(kind)
        return True
    # Python asks such an attribute of the class for every instance.
    if hasattr(type(found), "__set__"):
        return False
    type.__setattr__(_home(cls), name, _property(name, [kind], found))
    return True


def make_way(module: nn.Module, name: str, value: object) -> bool:
    """Tell the kinds of a name that `value` takes its place, as `Kind.make_way` says."""
    found = class_attribute(type(module), name)
    return isinstance(found, InstanceProperty) and _make_way(found.kinds, module, name, value)


def class_attribute(cls: type, name: str) -> Any:  # anything can be in a class
    """The value of the class, or of the nearest of its bases, under a name, as it stands there; ABSENT if there is none."""
    return next((vars(ancestor)[name] for ancestor in cls.__mro__ if name in vars(ancestor)), ABSENT)


def _home(cls: type) -> type:
    """The class that was written: a parametrization and FSDP derive from it, and what they derive may go again."""
    return next((ancestor for ancestor in cls.__mro__ if "_declaration" in vars(ancestor)), cls)


def _make_way(kinds: list[Kind], module: nn.Module, name: str, value: object) -> bool:
    kept = [kind.make_way(module, name, value) for kind in kinds]  # every kind has to hear of it
    return any(kept)


def _property(name: str, kinds: list[Kind], otherwise: Any = ABSENT) -> InstanceProperty:
    """The property; `otherwise` is what the class has under the name for instances without a value."""

    # `torch.jit.script` compiles the properties of a class otherwise.
    @torch.jit.unused
    def get(module: nn.Module) -> object:
        for kind in kinds:
            value = kind.read(module, name)
            if value is not ABSENT:
                return value
        if name in vars(module):
            return vars(module)[name]
        if otherwise is ABSENT or name in module._parameters or name in module._buffers or name in module._modules:
            raise AttributeError(name)  # Python asks nn.Module's __getattr__ next
        return otherwise.__get__(module, type(module)) if hasattr(otherwise, "__get__") else otherwise

    def put(module: nn.Module, value: object) -> None:
        if not _make_way(kinds, module, name, value):
            vars(module)[name] = value

    def delete(module: nn.Module) -> None:
        if any(kind.remove(module, name) for kind in kinds):
            return
        if name not in vars(module):
            raise AttributeError(f"{type(module).__name__!r} object has no attribute {name!r}")
        del vars(module)[name]

    made = InstanceProperty(get, put, delete)
    made.name, made.kinds, made.otherwise = name, kinds, otherwise
    return made
