"""Another batch size for an object and those nested in it, checked against every field."""

from __future__ import annotations

from typing import TypeVar

from torch import Size, Tensor

from ..core.contents import allocate_like, contents, shallow_copy, tensor_and_nested, tensors_of
from ..core.error_text import label
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
