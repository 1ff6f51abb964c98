"""Dtypes: every tensor, or the floating point ones, in another; and entries of the copies in `methods/tensor_copies.py`."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from ..core.stored import Stored
from ..methods import moving, tensor_copies
from ..methods.cast_filters import CastFilter, cast_some
from .entries import Group, Operation, changing, documented, written_out

T = TypeVar("T", bound=Stored)


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype=dtype)


def _casting(name: str, dtype: torch.dtype) -> Operation:
    """An entry for a dtype that every tensor is converted to, or every floating point tensor to another such dtype."""
    of_some = dtype.is_floating_point or dtype.is_complex

    def method(self: T, *, cast_filter: CastFilter | None = None) -> T:
        if cast_filter is not None:
            return cast_some(self, dtype, cast_filter)
        return moving.to(self, dtype) if of_some else self._map_with(_cast, dtype, self._device)

    doc = f"Floating point tensors as `{dtype}`, the others as they are." if of_some else f"Every tensor as `{dtype}`."
    return Operation(name, doc, documented(method, name, doc), form="cast")


CASTING = (
    _casting("float", torch.float32),
    _casting("double", torch.float64),
    _casting("half", torch.float16),
    _casting("bfloat16", torch.bfloat16),
    _casting("float16", torch.float16),
    _casting("float32", torch.float32),
    _casting("float64", torch.float64),
    _casting("complex64", torch.complex64),
    _casting("complex128", torch.complex128),
    _casting("int", torch.int32),
    _casting("int8", torch.int8),
    _casting("int16", torch.int16),
    _casting("int32", torch.int32),
    _casting("int64", torch.int64),
    _casting("uint8", torch.uint8),
    _casting("bool", torch.bool),
)

GROUP = Group(
    "Dtypes",
    "A floating point dtype is for the floating point tensors only, as in `nn.Module`: indices and masks keep "
    "their dtype. An integer dtype or `bool` is for every tensor. `cast_filter` decides which tensors are cast "
    "instead. It is a function of the tensor, or of its key, a tuple of names, and the tensor.",
    CASTING,
)


@changing
def detach_(self: T) -> T:
    """`detach`, in place."""
    return self._map(Tensor.detach_)


def _clone(input: T, *, memory_format: torch.memory_format = torch.preserve_format) -> T:
    """`torch.clone`, which has an option that the method has not."""
    if memory_format is torch.preserve_format:
        return tensor_copies.clone(input)
    return input._map_with(_clone_as, memory_format, input._device)


def _clone_as(tensor: Tensor, memory_format: torch.memory_format) -> Tensor:
    return torch.clone(tensor, memory_format=memory_format)


COPYING = (
    written_out(tensor_copies.clone, torch.clone, handler=_clone),
    written_out(tensor_copies.detach, torch.detach, in_place=detach_),
    written_out(tensor_copies.contiguous),
)

COPYING_GROUP = Group(
    "Copies",
    "Each tensor is copied or shared as torch does it. Static fields are shared.",
    COPYING,
)
