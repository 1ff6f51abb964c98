"""Entries of copies and histories; the methods stand in `methods/memory.py`."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from ..core.locks import refuse_if_frozen
from ..core.stored import Stored
from ..methods import memory
from .entries import Group, Operation, first_line

T = TypeVar("T", bound=Stored)


def detach_(self: T) -> T:
    """`detach`, in place."""
    refuse_if_frozen(self, "detach the tensors of")
    self._map(Tensor.detach_)
    return self


def _clone(input: T, *, memory_format: torch.memory_format = torch.preserve_format) -> T:
    """`torch.clone`, which has an option that the method has not."""
    if memory_format is torch.preserve_format:
        return memory.clone(input)
    return input._map_with(_clone_as, memory_format, input._device)


def _clone_as(tensor: Tensor, memory_format: torch.memory_format) -> Tensor:
    return torch.clone(tensor, memory_format=memory_format)


COPYING = (
    Operation("clone", first_line(memory.clone), memory.clone, (torch.clone,), _clone),
    Operation("detach", first_line(memory.detach), memory.detach, (torch.detach,), in_place=detach_),
    Operation("contiguous", first_line(memory.contiguous), memory.contiguous),
)

GROUP = Group(
    "Copies",
    "Each tensor is copied or shared as torch does it. Static fields are shared.",
    COPYING,
)
