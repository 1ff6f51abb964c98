"""The assignment of values to attributes that nn.Module does not register.

Two mixins handle assignments. `LabelledAssignment` stands behind nn.Module in the method resolution order of every Module and
gets the values that nn.Module does not register. The `__setattr__` of a Module stays nn.Module's own, which FSDP tests for.
`LabelledOwner` stands before it in classes with their own `__init__`, where a parameter or a child may take the name of a
labelled tensor. Labelled tensors are imported when a value may be one.
"""

from __future__ import annotations

from typing import Any, cast

from torch import nn

from ..module.registration import refuse_hidden
from .devices import DeviceBounded, brought_to, device


class ChecksAssignment:
    """Base of values that refuse to be assigned to attributes which they were not made for."""

    __slots__ = ()

    def check_assignment(self, module: nn.Module, name: str) -> None:
        """Raise TypeError unless this was made for the attribute `name` of `module`."""
        raise NotImplementedError


class LabelledAssignment(DeviceBounded):
    """Mixin behind nn.Module: takes what nn.Module's own `__setattr__` does not register."""

    __slots__ = ()

    __nograd_tensors__: frozenset[str] = frozenset()
    """Names of the labelled tensors that are stored as buffers, inherited ones included."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        inherited = [vars(ancestor).get("__nograd_tensors__", frozenset()) for ancestor in cls.__mro__]
        cls.__nograd_tensors__ = frozenset[str]().union(*inherited)

    def __setattr__(self, name: str, value: Any) -> None:
        module = cast(nn.Module, self)  # no type says that the class derives from it too
        if isinstance(value, DeviceBounded):
            from .labelled_attributes import own

            if own(module, name, value):
                return
            value = brought_to(device(module), value)
        elif isinstance(value, ChecksAssignment):
            value.check_assignment(module, name)
        super().__setattr__(name, value)


class LabelledOwner(nn.Module):
    """Mixin before nn.Module: lets anything take the name of a labelled tensor, and a labelled tensor the name of anything."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, DeviceBounded) and not isinstance(value, nn.Module):
            from .labelled import LabelledTensor

            # nn.Module lets only a parameter take the name of a parameter. Its `__init__` may not have run yet.
            held = (vars(self).get(registry, ()) for registry in ("_parameters", "_buffers", "_modules"))
            if isinstance(value, LabelledTensor) and any(name in registry for registry in held):
                delattr(self, name)
        elif isinstance(value, nn.Module | nn.Parameter):
            from .labelled_attributes import make_way

            make_way(self, name, value)
            refuse_hidden(self, name, value)
            if isinstance(value, DeviceBounded) and isinstance(self, DeviceBounded):
                value = brought_to(device(self), value)
        super().__setattr__(name, cast(nn.Module, value))
