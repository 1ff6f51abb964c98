"""Another batch size, or none of a device, for an object and the objects in its fields.

A nested object has a batch size that starts with its owner's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from torch import Size, Tensor

from ..core.contents import allocate_like, contents, nested_objects, shallow_copy, tensor_and_nested, tensors_of
from ..core.error_text import label
from ..core.locks import refuse_if_locked
from ..core.sizes import BatchSize, common_leading
from ..core.sizes import batch_size as as_batch_size
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)


def with_batch_size(self: T, batch_size: Size, where: str = "") -> T:
    """A shallow copy with another batch size, which all tensors have to start with; nested objects are raised to it.

    Args:
        where: How an error message begins, for an object in a field of another one.

    Raises:
        ValueError: a tensor or a nested batch size does not fit.
    """
    batch_ndim = len(batch_size)
    values, static = self._field_values()
    values_that_fit: list[object] = []
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if name in self._unbatched:
            pass
        elif isinstance(value, (Tensor, dict, list)):
            for tensor in tensors_of(value):
                if tensor.shape[:batch_ndim] != batch_size:
                    raise ValueError(
                        f"{where}{label(self, name)}: expected a shape that starts with {list(batch_size)}, "
                        f"got {list(tensor.shape)}"
                    )
        elif value is not None and value._batch_size[:batch_ndim] != batch_size:
            value = extended(self, name, value, batch_size)
        values_that_fit.append(value)
    if self._per_item:
        from .per_item import refuse_unfit  # here and below: few classes have such fields

        refuse_unfit(self, batch_size, static)
    if self._shapes:
        from .annotated_shapes import refuse_contents

        refuse_contents(self, batch_size, contents(self))
    out = allocate_like(self)._assign(values_that_fit, static, batch_size, self._device)
    # A dimension that the old size does not have has no name.
    out._names = self._names and (*self._names, *[None] * batch_ndim)[:batch_ndim]
    return out


def extended(self: Stored, name: str, inner: T, batch_size: Size) -> T:
    """A shallow copy of `inner` with the whole batch size of its owner, of which its own is a prefix.

    Raises:
        ValueError: `inner` has a batch size that `batch_size` does not start with, or a tensor does not fit.
    """
    if batch_size[: len(inner._batch_size)] != inner._batch_size:
        raise ValueError(
            f"{label(self, name)}: expected a batch size that starts with {list(batch_size)}, "
            f"got {list(inner._batch_size)}"
        )
    return with_batch_size(shallow_copy(inner), batch_size, f"{label(self, name)}: ")


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


def clear_device(self: Stored) -> None:
    """Set the device of an object, and of those in its fields that are not locked, to None."""
    refuse_if_locked(self, "change the device of")
    for inner in nested_objects(self):
        if inner._lock is None:
            clear_device(inner)
    self._device = None


def _shapes(self: Stored) -> Iterator[Size]:
    """The shapes of the tensors that the batch carries, and the batch sizes of nested objects and of values for each item."""
    for name, value in zip(tensor_and_nested(self), self._field_values()[0], strict=True):
        if name in self._unbatched:
            continue
        if name in self._nested and value is not None:
            yield value._batch_size
        else:
            yield from (tensor.shape for tensor in tensors_of(value))
    for name in self._per_item:
        items = getattr(self, name)
        if items is not None:
            yield items.batch_size
