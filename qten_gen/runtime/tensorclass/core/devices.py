"""Devices, as callers write them and as objects store them."""

from __future__ import annotations

import torch

Device = torch.device | str | int
"""What a method takes as a device: `torch.device("cuda")`, `"cuda:1"`, or the index of an accelerator."""

DeviceLike = Device | None
"""What a constructor takes as `device`; None leaves the tensors where they are."""

_CPU = torch.device("cpu")


def device(value: Device) -> torch.device:
    """A device with its index, so that it equals that of the tensors on it: `cuda` becomes `cuda:0`."""
    if type(value) is str and value == "cpu":
        return _CPU
    found = value if isinstance(value, torch.device) else torch.device(value)
    if found == _CPU or found.index is not None or found.type == "meta":
        return found
    return torch.empty(0, device=found).device
