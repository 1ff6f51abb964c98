"""Facts about an object: its shape, place, dtype and size."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Self

import torch
from torch import Size

from ..core import late
from ..core.locks import is_locked
from ..core.stored import Stored

if TYPE_CHECKING:
    from ..core.sizes import BatchSize


class Metadata(Stored):
    """The members of TensorClass that describe an object."""

    __slots__ = ()

    @property
    def is_locked(self) -> bool:
        """True if fields, batch size and names cannot be set: the object is locked or frozen."""
        return is_locked(self)

    @property
    def shape(self) -> Size:
        """The batch size."""
        return self._batch_size

    @property
    def ndim(self) -> int:
        """The number of batch dimensions."""
        return len(self._batch_size)

    batch_dims = ndim

    def dim(self) -> int:
        """The number of batch dimensions.

        >>> Batch(torch.zeros(2, 3, 7), batch_size=[2, 3]).dim()
        2
        """
        return len(self._batch_size)

    def numel(self) -> int:
        """The number of items: 1 where there are no batch dimensions.

        >>> Batch(torch.zeros(2, 3, 7), batch_size=[2, 3]).numel()
        6
        """
        return prod(self._batch_size)

    @property
    def saved_path(self) -> str | None:
        """The folder of a memory map. None for other objects, temporary files, and tensors of several folders."""
        found: str | None = late.memory_map.saved_path(self)
        return found

    def auto_batch_size_(self, batch_dims: int | None = None, keep_compliant_size: bool = False) -> Self:
        """Make the leading dimensions that all tensors share the batch size; nested objects get the longest of their own.

        >>> Batch(torch.zeros(2, 3), torch.zeros(2, 3)).auto_batch_size_(1).batch_size
        torch.Size([2])

        Args:
            batch_dims: How many dimensions at most.
            keep_compliant_size: Leave nested objects alone that have as many batch dimensions already, or more.

        Raises:
            RuntimeError: the object is locked.
            FrozenInstanceError: it is frozen.
        """
        late.batch_sizes.find_batch_size(self, batch_dims, batch_dims if keep_compliant_size else None)
        return self

    def clear_device_(self) -> Self:
        """Set the device to None, where tensors may be on different ones. No tensor is moved.

        >>> Batch(torch.arange(4), batch_size=4, device="cpu").clear_device_().device is None
        True

        Raises:
            RuntimeError: the object is locked.
            FrozenInstanceError: it is frozen.
        """
        late.batch_sizes.clear_device(self)
        return self


# The properties that TensorClass has under these names


def _batch_size(self: Stored) -> Size:
    return self._batch_size


def _set_batch_size(self: Stored, value: BatchSize) -> None:
    late.batch_sizes.set_batch_size(self, value)


def _device(self: Stored) -> torch.device | None:
    return self._device


def _refuse_device(self: Stored, value: object) -> None:
    raise AttributeError(f"the device of a {type(self).__name__} cannot be set; use .to({str(value)!r})")


batch_size = property(_batch_size, _set_batch_size, doc="The leading dimensions that all tensors share; can be set.")
device = property(_device, _refuse_device, doc="Where all tensors are, or None where they may differ.")
