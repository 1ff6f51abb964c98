"""How a Module owns the labelled tensors that are assigned to it.

Assigning a LabelledTensor copies its data into a parameter `tensor:NAME`, or a buffer `buffer:NAME` where the class says so with
`nograd_tensors`. The labels are kept in the instance dict. Reading the attribute gives a LabelledTensor that asks the module for
its data each time, so it cannot be stale, whatever replaced the storage in between.

Two classes take assignments. `LabelledAssignment` stands behind nn.Module in the method resolution order of every Module and gets
what nn.Module has no place for; the `__setattr__` of a Module stays nn.Module's own, which FSDP tests for. `LabelledOwner` stands
before it in classes with their own `__init__`, where a parameter or a child may take the name of a labelled tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .devices import Device, DeviceBounded
from .instance_properties import ABSENT, Kind, give, make_way
from .labelled import LabelledTensor, register_pytree
from .virtual_tensor import VirtualTensor

if TYPE_CHECKING:
    from ..module.module import Module

ModuleType = TypeVar("ModuleType", bound="type[Module]")
"""A subclass of Module, as a class decorator takes and returns it."""

TENSOR_PARAM_PREFIX = "tensor:"
"""What stands before the name of an attribute in the name of the parameter that holds its data."""

TENSOR_BUFFER_PREFIX = "buffer:"
"""What stands before the name of an attribute in the name of the buffer that holds its data."""

_OWNED = "_labelled"
"""Where the instance dict keeps, for each name of a labelled tensor, the name of its storage and its labels."""

_Entry = tuple[str, tuple[Hashable, ...]]


def nograd_tensors(*names: str) -> Callable[[ModuleType], ModuleType]:
    """Class decorator: labelled tensors assigned to these attributes become buffers, not parameters.

        @nograd_tensors("basis", "projector")
        class Model(Module): ...

    A subclass inherits the names, and its own decorator adds to them.

    Raises:
        TypeError: what is decorated is no Module class, or a name is no string.
        ValueError: a name is no identifier.
    """
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"nograd_tensors() takes names of attributes, got {name!r}")
        if not name.isidentifier():
            raise ValueError(f"nograd_tensors(): {name!r} is no name of an attribute")

    def decorate(cls: ModuleType) -> ModuleType:
        if not (isinstance(cls, type) and issubclass(cls, LabelledAssignment)):
            raise TypeError(f"nograd_tensors() decorates a Module class, got {cls!r}")
        cls.__nograd_tensors__ = cls.__nograd_tensors__ | frozenset(names)
        return cls

    return decorate


class BoundTensor(LabelledTensor):
    """The LabelledTensor that an attribute of a module gives: its data is the module's, now and later."""

    __slots__ = ("_key", "_module")
    _module: nn.Module
    _key: str

    @property
    def data(self) -> Tensor:
        """The parameter or buffer that the module has now."""
        module, key = self._module, self._key
        if key in module._parameters:
            return module._parameters[key]  # type: ignore[return-value] # storage is never registered as None
        return getattr(module, key)  # type: ignore[no-any-return] # a buffer, or computed by a parametrization


register_pytree(BoundTensor)


class LabelledAssignment:
    """Base of Module: takes what nn.Module's own `__setattr__` has no place for."""

    __nograd_tensors__: frozenset[str] = frozenset()

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        inherited = [vars(ancestor).get("__nograd_tensors__", frozenset()) for ancestor in cls.__mro__]
        cls.__nograd_tensors__ = frozenset[str]().union(*inherited)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, LabelledTensor):
            own(cast("Module", self), name, value)
            return
        if isinstance(value, DeviceBounded):
            value = brought_to(cast("Module", self), value)
        elif isinstance(value, VirtualTensor):
            value.check_assignment(cast("Module", self), name)
        super().__setattr__(name, value)


class LabelledOwner(nn.Module):
    """Lets anything take the name of a labelled tensor, and a labelled tensor the name of anything."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, LabelledTensor):
            if any(name in vars(self).get(registry, ()) for registry in ("_parameters", "_buffers", "_modules")):
                delattr(self, name)
        elif isinstance(value, nn.Module | nn.Parameter):
            make_way(self, name, value)
            if isinstance(value, DeviceBounded):
                value = brought_to(cast("Module", self), value)
        super().__setattr__(name, cast(nn.Module, value))


def own(module: Module, name: str, value: LabelledTensor) -> None:
    """Copy a labelled tensor into the module and let `module.NAME` give it.

    Raises:
        AttributeError: the module's own `__init__` assigns before it calls nn.Module's.
        TypeError: the tensor has no gradients, such as one of integers, and is not named by `nograd_tensors`.
    """
    if "_parameters" not in vars(module):
        raise AttributeError("cannot assign labelled tensors before Module.__init__() call")
    is_buffer = name in type(module).__nograd_tensors__
    if not is_buffer and not (value.dtype.is_floating_point or value.dtype.is_complex):
        raise TypeError(
            f"{type(module).__name__}.{name}: a tensor of {value.dtype} has no gradients and cannot be a parameter;"
            f' name it in @nograd_tensors("{name}")'
        )
    if not give(type(module), name, _LABELLED):
        object.__setattr__(module, name, value)  # the class has a property of its own of that name
        return
    make_way(module, name, value)
    data = value.data.detach()
    data = data.to(_target(module, data.device), copy=True)
    key = (TENSOR_BUFFER_PREFIX if is_buffer else TENSOR_PARAM_PREFIX) + name
    _store(module, key, data, is_buffer)
    vars(module).pop(name, None)
    vars(module).setdefault(_OWNED, {})[name] = (key, value.dims)


def release(module: nn.Module, name: str) -> bool:
    """Remove the storage of a labelled tensor; False where `name` is none."""
    entry = _owned(module).pop(name, None)
    if entry is None:
        return False
    key, _ = entry
    if parametrize.is_parametrized(module, key):
        parametrize.remove_parametrizations(module, key)
    delattr(module, key)
    return True


def names(module: nn.Module) -> tuple[str, ...]:
    """The attributes of a module that are labelled tensors, in the order of assignment."""
    return tuple(_owned(module))


def restore(module: nn.Module) -> None:
    """Let the class of a module that was read from a pickle give its labelled tensors."""
    for name in _owned(module):
        give(type(module), name, _LABELLED)


def device(module: nn.Module) -> Device | None:
    """The logical device of a module's first tensor, its children's included; None where it has none."""
    tensor = next(chain(module.parameters(), module.buffers()), None)
    return None if tensor is None else Device.of(tensor.device)


def brought_to(module: Module, value: DeviceBounded) -> DeviceBounded:
    """The value on the module's device. Nothing is moved from or to "meta", where no data are."""
    target = module.device
    if value.device == target or "meta" in (value.device.name, target.name):
        return value
    return value.to_device(target)


def _target(module: Module, now: torch.device) -> torch.device:
    """Where a tensor that is `now` on a device has to go: to the module's, but neither from nor to "meta"."""
    target = module.device
    return now if "meta" in (now.type, target.name) or Device.of(now) == target else target.torch_device()


def _store(module: nn.Module, key: str, data: Tensor, is_buffer: bool) -> None:
    if key not in module._parameters and key not in module._buffers and hasattr(module, key):
        setattr(module, key, data)  # a parametrization takes it apart
    elif is_buffer:
        module.register_buffer(key, data)
    else:
        module.register_parameter(key, nn.Parameter(data))


def _owned(module: nn.Module) -> dict[str, _Entry]:
    return vars(module).get(_OWNED, {})  # type: ignore[no-any-return] # the instance dict holds anything


def _read(module: nn.Module, name: str) -> object:
    state = vars(module)
    return _bound(module, *state[_OWNED][name]) if _OWNED in state and name in state[_OWNED] else ABSENT


def _make_way(module: nn.Module, name: str, value: object) -> bool:
    if not isinstance(value, LabelledTensor):
        release(module, name)
    return False


_LABELLED = Kind(read=_read, make_way=_make_way, remove=release)


def _bound(module: nn.Module, key: str, dims: tuple[Hashable, ...]) -> BoundTensor:
    made = object.__new__(BoundTensor)
    object.__setattr__(made, "_module", module)
    object.__setattr__(made, "_key", key)
    object.__setattr__(made, "_dims", dims)
    return made
