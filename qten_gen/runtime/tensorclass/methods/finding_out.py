"""Another batch size for an object; and its batch size and device found out from its tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Size

from ..core.contents import tensor_and_nested, tensors_of
from ..core.locks import nested_objects, refuse_if_locked
from ..core.sizes import BatchSize
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored
from ..core.tensor_shapes import common_leading
from ..fields.batch_sizes import with_batch_size


def set_batch_size(self: Stored, value: BatchSize) -> None:
    """Set the property `batch_size`: all tensors have to start with it. Nested objects are raised to it in shallow copies.

    Raises:
        ValueError: a tensor or a nested batch size does not fit; nothing is changed then.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    refuse_if_locked(self, "change the batch size of")
    changed = with_batch_size(self, as_batch_size(value))
    self._assign(*changed._field_values(), changed._batch_size, self._device)
    self._names = changed._names


def find_batch_size(self: Stored, batch_dims: int | None, enough: int | None) -> None:
    """Find the batch size of an object and its nested objects, apart from those with `enough` dimensions."""
    refuse_if_locked(self, "change the batch size of")
    for inner in nested_objects(self):
        if inner._lock is None and (enough is None or len(inner._batch_size) < enough):
            find_batch_size(inner, batch_dims, None)
    sizes = list(_shapes(self))
    if sizes:
        set_batch_size(self, common_leading(sizes)[:batch_dims])


def set_device(self: Stored, device_of: Callable[[Stored], torch.device | None]) -> None:
    """Set the device of an object, and of those in its fields that are not locked, to what `device_of` says of each."""
    refuse_if_locked(self, "change the device of")
    for inner in nested_objects(self):
        if inner._lock is None:
            set_device(inner, device_of)
    self._device = device_of(self)


def common_device(self: Stored) -> torch.device | None:
    """The device that all tensors are on; None where they differ or there are none."""
    found = {leaf.device for leaf in self._leaves()}
    return found.pop() if len(found) == 1 else None


def _shapes(self: Stored) -> Iterator[Size]:
    """The shapes of the tensors that the batch carries, and the batch sizes of nested objects and of values for each item."""
    for name, value in zip(tensor_and_nested(self), self._field_values()[0], strict=True):
        if name in self._nested and value is not None:
            yield value._batch_size
        elif name not in self._unbatched:
            yield from (tensor.shape for tensor in tensors_of(value))
    for name in self._per_item:
        items = getattr(self, name)
        if items is not None:
            yield items.batch_size
