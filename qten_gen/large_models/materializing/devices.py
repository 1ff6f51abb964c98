"""The device that a module is materialised on."""

from __future__ import annotations

import torch
from torch.types import Device as DeviceLike


def usable(device: DeviceLike) -> torch.device:
    """The device with its index, on this machine.

    Raises:
        ValueError: it is meta, where tensors have no values.
        RuntimeError: this machine does not have it, or this torch is built without it.
    """
    found = torch.get_default_device() if device is None else torch.device(device)
    if found.type == "meta":
        raise ValueError("materialize(): tensors on meta have no values; give the device that they are to be on")
    if found.type == "cpu":
        return torch.device("cpu")
    backend = getattr(torch, found.type, None)
    count = backend.device_count() if backend is not None and backend.is_available() else 0
    if backend is None or count == 0:
        raise RuntimeError(f"materialize(): there is no {found.type} device here, got device={str(found)!r}")
    index = backend.current_device() if found.index is None else found.index
    if index >= count:
        raise RuntimeError(
            f"materialize(): the {found.type} devices here are 0 to {count - 1}, got device={str(found)!r}"
        )
    return torch.device(found.type, index)
