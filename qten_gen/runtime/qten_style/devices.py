"""Logical devices, and what lives on one.

A program that says "gpu" runs on whatever accelerator the machine has; it is resolved when a tensor has to go there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn

if TYPE_CHECKING:
    from typing import Self


NAMES = ("cpu", "gpu", "meta")
"""The valid names of a logical device. On "meta" tensors have shapes and no data, as in torch."""


class _Thread(threading.local):
    """How many open contexts of a thread asked for CUDA devices that do not exist; fake mode counts them."""

    contexts = 0


THREAD = _Thread()


def has_emulated_cuda() -> bool:
    """Return whether this thread is in a context with CUDA devices that do not exist."""
    return THREAD.contexts > 0 and not torch.cuda.is_available()


_BACKENDS: dict[str, Callable[[], bool]] = {
    "cuda": lambda: torch.cuda.is_available() or has_emulated_cuda(),
    "mps": lambda: torch.backends.mps.is_available(),
    "xpu": lambda: torch.xpu.is_available(),
}
"""The devices that "gpu" can mean, in the order of preference, and whether this machine has each."""


@dataclass(frozen=True, slots=True)
class Device:
    """A logical device: `Device("cpu")`, `Device("gpu")`, `Device("gpu", 1)`, `Device("meta")`.

    >>> Device.new("gpu:1")
    Device(name='gpu', index=1)
    >>> str(Device("gpu", 1)), Device("cpu").torch_device()
    ('gpu:1', device(type='cpu'))

    Args:
        name: "cpu", "gpu" or "meta".
        index: Which gpu; None for the current one.

    Raises:
        ValueError: the name is not one of `NAMES`, or an index is given that is negative or not for a gpu.
    """

    name: str
    index: int | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"no device is named {self.name!r}; the names are {_forms()}")
        if self.index is not None and (self.name != "gpu" or self.index < 0):
            raise ValueError(f"{self.name}:{self.index} is not a device; the names are {_forms()}")

    @classmethod
    def new(cls, name: str) -> Device:
        """The device written as `name`: "cpu", "gpu", "gpu:1" or "meta".

        >>> Device.new("gpu:1")
        Device(name='gpu', index=1)

        Raises:
            ValueError: nothing is written so; the message lists what is.
        """
        family, colon, index = name.partition(":")
        if not colon:
            return cls(family)
        if not (index.isascii() and index.isdecimal()):
            raise ValueError(f"no device is named {name!r}; the names are {_forms()}")
        return cls(family, int(index))

    @classmethod
    def of(cls, device: torch.device) -> Device:
        """The logical device of a torch device: every accelerator is a gpu.

        >>> Device.of(torch.device("cuda", 1))
        Device(name='gpu', index=1)
        """
        return cls(device.type) if device.type in NAMES else cls("gpu", device.index)

    def torch_device(self) -> torch.device:
        """The torch device that this means on this machine. "gpu" without index is the current one.

        >>> Device("cpu").torch_device()
        device(type='cpu')

        Raises:
            RuntimeError: a gpu, and the machine has none.
            ValueError: a gpu with an index where there is only one.
        """
        if self.name != "gpu":
            return torch.device(self.name)
        backend = next((backend for backend, is_available in _BACKENDS.items() if is_available()), None)
        if backend is None:
            raise RuntimeError(f"this machine has no gpu: {', '.join(_BACKENDS)} are not available")
        if backend == "mps":
            if self.index:
                raise ValueError(f"{self} is not a device: mps has one gpu, which has no index or 0")
            return torch.device("mps")
        return torch.device(backend, _current(backend) if self.index is None else self.index)

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}:{self.index}"


def _current(backend: str) -> int:
    """The index of the current gpu. In fake mode, it is the first one."""
    if backend == "cuda" and has_emulated_cuda():
        return 0
    current: int = getattr(torch, backend).current_device()
    return current


class DeviceBounded:
    """Base of what lives on a device and can be moved to another one. It defines `device` and `to_device`.

    >>> class Points(DeviceBounded):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     @property
    ...     def device(self):
    ...         return Device.of(self.data.device)
    ...     def to_device(self, device):
    ...         return Points(self.data.to(device.torch_device()))
    >>> Points(torch.ones(2)).to_device(Device("meta")).device
    Device(name='meta', index=None)

    A value that is assigned to an attribute of a Module is moved to the module's device first. Values return a copy of
    themselves; a Module, as any nn.Module, moves and returns itself.
    """

    __slots__ = ()

    # `Any`, so that a Module's may be a `torch.device`.
    @property
    def device(self) -> Device | Any:
        """Where this object is.

        Raises:
            NotImplementedError: the class does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say where it is: it has to define `device`")

    def to_device(self, device: Device) -> Self:
        """This object on `device`.

        Raises:
            NotImplementedError: the class does not define it.
            RuntimeError: a gpu, and the machine has none.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be moved: it has to define `to_device`")

    def cpu(self) -> Self:
        """Return a copy of this object on the cpu.

        >>> LabelledTensor(torch.ones(2), ("site",)).cpu().device
        Device(name='cpu', index=None)
        """
        return self.to_device(Device("cpu"))

    def gpu(self, index: int | None = None) -> Self:
        """Return a copy of this object on a gpu: the one with the given index, else the current one.

        Raises:
            RuntimeError: the machine has none.
        """
        return self.to_device(Device("gpu", index))


def resolved(device: Device) -> torch.device:
    """The torch device of the argument of a `to_device`.

    Raises:
        TypeError: it is not a Device.
        RuntimeError: a gpu, and the machine has none.
    """
    if not isinstance(device, Device):
        advice = f"Device.new({device!r})" if isinstance(device, str) else "Device.of() of a torch device"
        raise TypeError(f"to_device() takes a Device, got {device!r}; write {advice}")
    return device.torch_device()


def _forms() -> str:
    return "cpu, gpu, gpu:<index> and meta"


MOVED_TO = "_moved_to"
"""Where the instance dict keeps the device that a module was moved to by name, for modules without tensors."""


def device(module: nn.Module) -> Device:
    """The logical device of a module's first tensor, its children's included, whatever a user's `device` says.

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
        if isinstance(inner, DeviceBounded):
            vars(inner)[MOVED_TO] = device


def place(target: Device, now: torch.device) -> torch.device:
    """Where a tensor that is on `now` has to go: to `target`, but neither from nor to "meta"."""
    return now if "meta" in (now.type, target.name) or Device.of(now) == target else target.torch_device()
