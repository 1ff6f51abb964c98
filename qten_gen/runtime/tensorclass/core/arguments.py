"""What every object has beside its fields, as constructors take it and as it is stored."""

from __future__ import annotations

import torch
from torch import Size

from .devices import DeviceLike
from .devices import device as checked_device
from .names import Names, NamesLike
from .names import names as checked_names
from .sizes import BatchSize
from .sizes import batch_size as checked_size
from .stored import Stored

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
    place = None if device is None else checked_device(device)
    return size, place, None if names is None else checked_names(self, names, size)
