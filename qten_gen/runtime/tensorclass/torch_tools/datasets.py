"""Objects in a `torch.utils.data.DataLoader`: as items that it collates, and as a dataset of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch
from torch.utils.data import get_worker_info
from torch.utils.data._utils.collate import collate_tensor_fn

from ..core.stored import Stored
from ..methods.joining import stack
from .packing import LARGEST

if TYPE_CHECKING:
    from torch import Tensor


T = TypeVar("T", bound=Stored)
T_co = TypeVar("T_co", covariant=True)


class _Items(Protocol[T_co]):
    """A sequence that is indexed by positions; also where a class has a `__getitem__` of its own."""

    def __getitem__(self, index: Tensor, /) -> T_co: ...


def items_at(self: _Items[T_co], indices: Sequence[int]) -> T_co:
    """The items of a dataset that a DataLoader asks for at once: one object, already collated.

    So an object is a map-style dataset whose batches are cut out by one index instead of stacked item by item.
    """
    # The default device may be another one, and positions are no data.
    return self[torch.tensor(indices, dtype=torch.long, device="cpu")]


def collate(items: list[T] | T) -> T:
    """One batch of the items of a dataset; what is collated already stays as it is. The default collate function calls it.

    A worker stacks large tensors in the memory that it shares with the main process, which saves copying them there. Small ones
    are packed when the batch is sent.
    """
    if not isinstance(items, (list, tuple)):
        return items
    return stack(items) if get_worker_info() is None else stack(items, fn=_stack_shared)


def _stack_shared(tensors: list[Tensor]) -> Tensor:
    if len(tensors) * tensors[0].numel() * tensors[0].itemsize <= LARGEST:
        return torch.stack(tensors)
    stacked: Tensor = collate_tensor_fn(tensors)
    return stacked
