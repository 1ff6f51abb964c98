"""Dtypes: every tensor, or the floating point ones, in another; and entries of the copies in `methods/tensor_copies.py`."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from ..core.locks import refuse_if_frozen
from ..core.stored import Stored
from ..methods import moving, tensor_copies
from ..methods.cast_filters import CastFilter, cast_some
from .entries import Group, Operation, documented, first_line

T = TypeVar("T", bound=Stored)


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype=dtype)


def _every(name: str, dtype: torch.dtype) -> Operation:
    """An entry for a dtype that every tensor is converted to."""

    def method(self: T, *, cast_filter: CastFilter | None = None) -> T:
        if cast_filter is not None:
            return cast_some(self, dtype, cast_filter)
        return self._map_with(_cast, dtype, self._device)

    doc = f"Every tensor as `{dtype}`."
    return Operation(name, doc, documented(method, name, doc), form="cast")


def _floating(name: str, dtype: torch.dtype) -> Operation:
    """An entry for a dtype that floating point tensors are converted to."""

    def method(self: T, *, cast_filter: CastFilter | None = None) -> T:
        return moving.to(self, dtype) if cast_filter is None else cast_some(self, dtype, cast_filter)

    doc = f"Floating point tensors as `{dtype}`, the others as they are."
    return Operation(name, doc, documented(method, name, doc), form="cast")


CASTING = (
    _floating("float", torch.float32),
    _floating("double", torch.float64),
    _floating("half", torch.float16),
    _floating("bfloat16", torch.bfloat16),
    _floating("float16", torch.float16),
    _floating("float32", torch.float32),
    _floating("float64", torch.float64),
    _floating("complex64", torch.complex64),
    _floating("complex128", torch.complex128),
    _every("int", torch.int32),
    _every("int8", torch.int8),
    _every("int16", torch.int16),
    _every("int32", torch.int32),
    _every("int64", torch.int64),
    _every("uint8", torch.uint8),
    _every("bool", torch.bool),
)

GROUP = Group(
    "Dtypes",
    "A floating point dtype is for the floating point tensors only, as in `nn.Module`: indices and masks keep "
    "their dtype. An integer dtype or `bool` is for every tensor. `cast_filter` decides which tensors are cast "
    "instead. It is a function of the tensor, or of its key, a tuple of names, and the tensor.",
    CASTING,
)


def detach_(self: T) -> T:
    """`detach`, in place."""
    refuse_if_frozen(self, "detach the tensors of")
    self._map(Tensor.detach_)
    return self


def _clone(input: T, *, memory_format: torch.memory_format = torch.preserve_format) -> T:
    """`torch.clone`, which has an option that the method has not."""
    if memory_format is torch.preserve_format:
        return tensor_copies.clone(input)
    return input._map_with(_clone_as, memory_format, input._device)


def _clone_as(tensor: Tensor, memory_format: torch.memory_format) -> Tensor:
    return torch.clone(tensor, memory_format=memory_format)


COPYING = (
    Operation("clone", first_line(tensor_copies.clone), tensor_copies.clone, (torch.clone,), _clone),
    Operation("detach", first_line(tensor_copies.detach), tensor_copies.detach, (torch.detach,), in_place=detach_),
    Operation("contiguous", first_line(tensor_copies.contiguous), tensor_copies.contiguous),
)

COPYING_GROUP = Group(
    "Copies",
    "Each tensor is copied or shared as torch does it. Static fields are shared.",
    COPYING,
)
