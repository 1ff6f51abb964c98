"""Facts about an object: its shape, place, dtype and size."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Self, cast, overload

import torch
from torch import Size

from ..core import late
from ..core.locks import is_locked, nested_objects
from ..core.sizes import dimension
from ..core.stored import Stored

if TYPE_CHECKING:
    from ..core.sizes import BatchSize, Dim


class Metadata(Stored):
    """The members of TensorClass that describe an object."""

    __slots__ = ()

    @property
    def sorted_keys(self) -> tuple[str, ...]:
        """The names of the fields in alphabetical order."""
        return tuple(sorted(self._fields))

    @property
    def is_locked(self) -> bool:
        """True if fields, batch size and names cannot be set: the object is locked or frozen."""
        return is_locked(self)

    @property
    def shape(self) -> Size:
        """The batch size."""
        return self._batch_size

    @overload
    def size(self) -> Size: ...
    @overload
    def size(self, dim: Dim) -> int: ...
    def size(self, dim: Dim | None = None) -> Size | int:
        """The batch size, or the size of one batch dimension.

        >>> batch = Batch(torch.zeros(2, 3, 7), batch_size=[2, 3])
        >>> batch.size(), batch.size(-1)
        (torch.Size([2, 3]), 3)

        Raises:
            IndexError: there is no such batch dimension.
            ValueError: no batch dimension has that name.
        """
        if dim is None:
            return self._batch_size
        if type(dim) is int and 0 <= dim < len(self._batch_size):
            return self._batch_size[dim]
        at = dimension(self, dim)
        return self._batch_size[at]

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

    if TYPE_CHECKING:
        # A field may be called so, which checkers accept in place of a name without a declared type.
        depth = cast(Any, None)
    else:

        @property
        def depth(self) -> int:
            """How many objects stand in one another: 0 where no field holds an object."""
            return _depth(self)

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype of all tensors, or None where they differ or there are none."""
        found = {leaf.dtype for leaf in self._leaves()}
        return found.pop() if len(found) == 1 else None

    @property
    def saved_path(self) -> str | None:
        """The folder of a memory map. None for other objects, temporary files, and tensors of several folders."""
        found: str | None = late.memory_map.saved_path(self)
        return found

    @property
    def is_cpu(self) -> bool:
        """True if all tensors are in main memory."""
        return _all_on(self, "cpu")

    @property
    def is_cuda(self) -> bool:
        """True if all tensors are on CUDA devices."""
        return _all_on(self, "cuda")

    @property
    def is_meta(self) -> bool:
        """True if all tensors are on the device `meta`."""
        return _all_on(self, "meta")

    def is_contiguous(self) -> bool:
        """True if every tensor is contiguous in memory.

        >>> Batch(torch.zeros(2, 3).T, batch_size=3).is_contiguous()
        False
        """
        return all(leaf.is_contiguous() for leaf in self._leaves())

    def is_floating_point(self) -> bool:
        """True if every tensor is a floating point one; False where there are none.

        >>> Batch(torch.zeros(4), batch_size=4).is_floating_point()
        True
        """
        leaves = self._leaves()
        return bool(leaves) and all(leaf.is_floating_point() for leaf in leaves)

    def param_count(self, *, count_duplicates: bool = True) -> int:
        """The number of elements of all tensors together.

        >>> Batch(torch.zeros(2, 7), torch.ones(2), batch_size=2).param_count()
        16

        Args:
            count_duplicates: Count a tensor that stands in several fields each time.
        """
        leaves = self._leaves()
        return sum(
            leaf.numel() for leaf in (leaves if count_duplicates else {id(leaf): leaf for leaf in leaves}.values())
        )

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
        late.nested.find_batch_size(self, batch_dims, batch_dims if keep_compliant_size else None)
        return self

    def auto_device_(self) -> Self:
        """Set the device to the one that all tensors are on; to None where they differ or there are none.

        >>> Batch(torch.arange(4), batch_size=4).auto_device_().device
        device(type='cpu')

        Raises:
            RuntimeError: the object is locked.
            FrozenInstanceError: it is frozen.
        """
        late.nested.set_device(self, late.nested.common_device)
        return self

    def clear_device_(self) -> Self:
        """Set the device to None, where tensors may be on different ones. No tensor is moved.

        >>> Batch(torch.arange(4), batch_size=4, device="cpu").clear_device_().device is None
        True

        Raises:
            RuntimeError: the object is locked.
            FrozenInstanceError: it is frozen.
        """
        late.nested.set_device(self, lambda found: None)
        return self


def _depth(self: Stored) -> int:
    return max((1 + _depth(inner) for inner in nested_objects(self)), default=0)


def _all_on(self: Stored, kind: str) -> bool:
    """True if all tensors are on devices of one kind; without tensors the object's own device tells."""
    leaves = self._leaves()
    if not leaves:
        return self._device is not None and self._device.type == kind
    return all(leaf.device.type == kind for leaf in leaves)


# The properties that TensorClass has under these names


def _batch_size(self: Stored) -> Size:
    return self._batch_size


def _set_batch_size(self: Stored, value: BatchSize) -> None:
    late.nested.set_batch_size(self, value)


def _device(self: Stored) -> torch.device | None:
    return self._device


def _refuse_device(self: Stored, value: object) -> None:
    raise AttributeError(f"the device of a {type(self).__name__} cannot be set; use .to({str(value)!r})")


batch_size = property(_batch_size, _set_batch_size, doc="The leading dimensions that all tensors share; can be set.")
device = property(_device, _refuse_device, doc="Where all tensors are, or None where they may differ.")
