"""The properties `batch_size` and `device` of an object."""

from __future__ import annotations

import torch
from torch import Size

from ..core.locks import refuse_if_locked
from ..core.sizes import BatchSize
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored


def _batch_size(self: Stored) -> Size:
    return self._batch_size


def set_batch_size(self: Stored, value: BatchSize) -> None:
    """Set the property `batch_size`: all tensors have to start with it. Nested objects are raised to it in shallow copies.

    Raises:
        ValueError: a tensor or a nested batch size does not fit; nothing is changed then.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    refuse_if_locked(self, "change the batch size of")
    from ..fields.batch_sizes import with_batch_size  # few programs set it

    changed = with_batch_size(self, as_batch_size(value))
    self._assign(*changed._field_values(), changed._batch_size, self._device)
    self._names = changed._names


def _device(self: Stored) -> torch.device | None:
    return self._device


def _refuse_device(self: Stored, value: object) -> None:
    raise AttributeError(f"the device of a {type(self).__name__} cannot be set; use .to({str(value)!r})")


batch_size = property(_batch_size, set_batch_size, doc="The leading dimensions that all tensors share; can be set.")
device = property(_device, _refuse_device, doc="Where all tensors are, or None where they may differ.")
