"""Attributes of a Module that are labelled tensors: assigning, reading and removing them.

Assigning a LabelledTensor copies its data into a parameter `tensor:NAME`, or a buffer `buffer:NAME` where the class says so with
`nograd_tensors`. The labels are kept in the instance dict. Reading the attribute gives a LabelledTensor that reads its data from
the module each time, so it cannot be stale, whatever replaced the storage in between.

Two mixins handle assignments. `LabelledAssignment` stands behind nn.Module in the method resolution order of every Module and
gets the values that nn.Module does not register. The `__setattr__` of a Module stays nn.Module's own, which FSDP tests for.
`LabelledOwner` stands before it in classes with their own `__init__`, where a parameter or a child may take the name of a
labelled tensor.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .devices import Device, DeviceBounded, resolved
from .instance_properties import ABSENT, Kind, give, make_way
from .labelled import LabelledTensor, labelled
from .labelled_tree import register_pytree
from .virtual_tensor import VirtualTensor

TENSOR_PARAM_PREFIX = "tensor:"
"""What stands before the name of an attribute in the name of the parameter that holds its data."""

TENSOR_BUFFER_PREFIX = "buffer:"
"""What stands before the name of an attribute in the name of the buffer that holds its data."""

MOVED_TO = "_moved_to"
"""Where the instance dict keeps the device that a module was moved to by name, for modules without tensors."""

_OWNED = "_labelled"
"""Where the instance dict keeps, for each name of a labelled tensor, the name of its storage and its labels."""

_Entry = tuple[str, tuple[Hashable, ...]]


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


register_pytree(BoundTensor, labelled)


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
        if isinstance(value, LabelledTensor):
            own(self, name, value)
            return
        if isinstance(value, DeviceBounded):
            value = brought_to(device(_module(self)), value)
        elif isinstance(value, VirtualTensor):
            value.check_assignment(_module(self), name)
        super().__setattr__(name, value)


class LabelledOwner(nn.Module):
    """Mixin before nn.Module: lets anything take the name of a labelled tensor, and a labelled tensor the name of anything."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, LabelledTensor):
            if any(name in vars(self).get(registry, ()) for registry in ("_parameters", "_buffers", "_modules")):
                delattr(self, name)
        elif isinstance(value, nn.Module | nn.Parameter):
            make_way(self, name, value)
            if isinstance(value, DeviceBounded) and isinstance(self, DeviceBounded):
                value = brought_to(device(self), value)
        super().__setattr__(name, cast(nn.Module, value))


def _module(owner: LabelledAssignment) -> nn.Module:
    """The mixin's object as what it is besides: no type says that its class derives from nn.Module too."""
    return cast(nn.Module, owner)


def own(owner: LabelledAssignment, name: str, value: LabelledTensor) -> None:
    """Copy a labelled tensor into a module, on the module's device, and let `module.NAME` give it.

    Raises:
        AttributeError: the module's own `__init__` assigns before it calls nn.Module's.
        TypeError: the tensor has no gradients, such as one of integers, and is not named by `nograd_tensors`.
    """
    module = _module(owner)
    if "_parameters" not in vars(module):
        raise AttributeError("cannot assign labelled tensors before Module.__init__() call")
    is_buffer = name in type(owner).__nograd_tensors__
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
    data = data.to(_target(device(module), data.device), copy=True)
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


def device(module: nn.Module) -> Device:
    """The logical device of a module's first tensor, its children's included, whatever a `device` of the user's says.

    Without tensors: where the module was last moved to, else torch's default device.
    """
    tensor = next(chain(module.parameters(), module.buffers()), None)
    if tensor is not None:
        return Device.of(tensor.device)
    moved_to: Device | None = vars(module).get(MOVED_TO)
    return moved_to or Device.of(torch.get_default_device())


def brought_to(target: Device, value: DeviceBounded) -> DeviceBounded:
    """The value on a device. Nothing is moved from or to "meta", where tensors have no data."""
    now = device(value) if isinstance(value, nn.Module) else value.device
    if now == target or "meta" in (now.name, target.name):
        return value
    if not isinstance(value, nn.Module):
        return value.to_device(target)
    moved(value, target)  # a module's own `to_device` may be another thing
    return value


M = TypeVar("M", bound=nn.Module)


def moved(module: M, device: Device) -> M:
    """Move a module and everything in it to a device, and give the module itself. What `Module.to_device` does.

    Raises:
        TypeError: `device` is not a Device.
        RuntimeError: a gpu, and the machine has none.
    """
    module.to(resolved(device))
    note_moved(module, device)
    return module


def note_moved(module: nn.Module, device: Device) -> None:
    """Note where a module and those in it were moved to, for those without tensors."""
    for inner in module.modules():
        if isinstance(inner, LabelledAssignment):
            vars(inner)[MOVED_TO] = device


def _target(target: Device, now: torch.device) -> torch.device:
    """Where a tensor that is on `now` has to go: to `target`, but neither from nor to "meta"."""
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
