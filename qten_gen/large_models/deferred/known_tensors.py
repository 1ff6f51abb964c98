"""Which slot a fake tensor stands for.

A tensor is known by the address of its C++ object, which moves with the content when two tensors are swapped. Addresses are used
again when a tensor is gone. So every tensor that an operation makes is entered anew, and a tensor that is found has to look as
its slot says. `tensor.data = other` changes a tensor without an operation: then the storage tells what it is.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .tape import Slot, Tape


class KnownTensors:
    """The fake tensors of one tape, and the storages that they share."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._slots: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._parts: dict[int, list[int]] = {}
        self._next_storage = 0

    def enter_fresh(self, tensor: Tensor, made_as: type[Tensor] | None = None) -> int:
        """Enter a tensor with a storage of its own; its slot."""
        self._storages[storage_address(tensor)] = self._next_storage
        self._parts[self._next_storage] = []
        self._next_storage += 1
        return self.enter(tensor, made_as)

    def enter(self, tensor: Tensor, made_as: type[Tensor] | None = None) -> int:
        """Enter a tensor that is a part of a storage that is known; its slot."""
        storage = self._storages[storage_address(tensor)]
        slot = _slot(len(self._tape.slots), storage, tensor, made_as)
        self._tape.slots.append(slot)
        self._parts[storage].append(slot.index)
        self._slots[tensor._cdata] = slot.index
        return slot.index

    def has_storage_of(self, tensor: Tensor) -> bool:
        """Whether the storage of a tensor is known."""
        return storage_address(tensor) in self._storages

    def storage(self, tensor: Tensor) -> int:
        """The number of the storage of a tensor."""
        return self._storages[storage_address(tensor)]

    def find(self, tensor: Tensor) -> int | None:
        """The slot of a tensor, if an operation made it and nothing else has happened to it."""
        index = self._slots.get(tensor._cdata)
        if index is None or not self.is_as(tensor, self._tape.slots[index]):
            return None
        return index

    def is_as(self, tensor: Tensor, slot: Slot) -> bool:
        """Whether a tensor is the part of the storage that a slot says."""
        return (
            self._storages.get(storage_address(tensor)) == slot.storage
            and tuple(tensor.shape) == slot.size
            and tensor.dtype == slot.dtype
            and tensor.stride() == slot.stride
            and tensor.storage_offset() == slot.offset
        )

    def same_part(self, tensor: Tensor) -> int | None:
        """A slot that is the same part of the same storage."""
        parts = self._parts.get(self._storages.get(storage_address(tensor), -1), [])
        return next((index for index in reversed(parts) if self.is_as(tensor, self._tape.slots[index])), None)


def storage_address(tensor: Tensor) -> int:
    """The address of the memory that a tensor is a part of; fake tensors have one too."""
    with torch._C.DisableTorchFunction():
        address: int = tensor.untyped_storage()._cdata
    return address


def _slot(index: int, storage: int, tensor: Tensor, made_as: type[Tensor] | None) -> Slot:
    """The record of a tensor: where it is in its storage, and what it reports."""
    return Slot(
        index,
        storage,
        tuple(tensor.shape),
        tensor.stride(),
        int(tensor.storage_offset()),
        tensor.dtype,
        getattr(tensor, "fake_device", tensor.device),
        made_as,
    )
