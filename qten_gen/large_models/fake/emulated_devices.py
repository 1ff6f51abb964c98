"""Which device C++ is told that a fake tensor is on, where its CUDA device does not exist.

Without CUDA, C++ refuses a tensor on `cuda:0`, or aborts the process. So it is told that the tensor is on the CPU, with an index
that no CPU has: `cuda:1` is told as `cpu:65`. C++ compares devices with their index and hands them on, so two devices stay two,
and an operation that copies `self.options()` into a factory still says which device it meant.
"""

from __future__ import annotations

import torch

_FIRST = 64
"""The index of the CPU that stands for `cuda:0`. A c10::Device keeps its index in a signed byte, so there are 64 of them."""

COUNT = 64
"""How many CUDA devices are emulated."""


def is_emulated(device: torch.device) -> bool:
    """Whether a device is a CUDA device of a machine that has none."""
    return device.type == "cuda" and not torch.cuda.is_available()


def told(device: torch.device) -> torch.device:
    """The device for C++: another one for a CUDA device that does not exist.

    >>> told(torch.device("cpu"))
    device(type='cpu')
    """
    if not is_emulated(device):
        return device
    index = device.index or 0
    if index >= COUNT:
        raise ValueError(f"expected a CUDA device from cuda:0 to cuda:{COUNT - 1}, got {device}")
    return torch.device("cpu", _FIRST + index)


def meant(device: torch.device) -> torch.device:
    """The device that is meant by what C++ was told, with its index.

    >>> meant(torch.device("cpu", 65))
    device(type='cuda', index=1)
    """
    if device.type == "cpu" and device.index is not None and device.index >= _FIRST:
        return torch.device("cuda", device.index - _FIRST)
    if device.index is None and is_emulated(device):
        return torch.device("cuda", 0)
    return device
