"""Where a module is, as a logical device, and moving it and what is assigned to it there."""

from __future__ import annotations

from itertools import chain
from typing import TypeVar

import torch
from torch import nn

from .devices import Device, DeviceBounded, resolved

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
