"""What constructors and methods take as a batch size, a device and names, and how objects store it."""

from __future__ import annotations

import torch
from torch import Size

from .names import Names, NamesLike
from .names import names as checked_names
from .sizes import BatchSize
from .sizes import batch_size as checked_size
from .stored import Stored

DeviceSpec = torch.device | str | int
"""What a method takes as a device: `torch.device("cuda")`, `"cuda:1"`, or the index of an accelerator."""

DeviceLike = DeviceSpec | None
"""What a constructor takes as `device`; None leaves the tensors where they are."""

_CPU = torch.device("cpu")


def as_device(value: DeviceSpec) -> torch.device:
    """A device with its index, so that it equals that of the tensors on it: `cuda` becomes `cuda:0`."""
    if type(value) is str and value == "cpu":
        return _CPU
    found = value if isinstance(value, torch.device) else torch.device(value)
    if found == _CPU or found.index is not None or found.type == "meta":
        return found
    return torch.empty(0, device=found).device


Device = torch.device | None
"""The stored device of an object: where all its tensors are, or None where nothing is said about it."""


def batch_arguments(
    self: Stored, batch_size: BatchSize, device: DeviceLike, names: NamesLike
) -> tuple[Size, torch.device | None, Names | None]:
    """The batch size, device and names of dimensions that a constructor stores for what it was given.

    Raises:
        TypeError: one of them is of a type that is not documented.
        ValueError: the names are not one for each batch dimension, or not unique.
    """
    size = batch_size if type(batch_size) is Size else checked_size(batch_size)
    place = None if device is None else as_device(device)
    return size, place, None if names is None else checked_names(self, names, size)
