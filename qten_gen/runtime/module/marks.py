"""Marks in memory that nobody has written yet, by which it is recognised later."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_BYTE = 0xA5
"""Each byte of a marked tensor that has no place in `_MARKS`."""

_MARKS: dict[torch.dtype, tuple[torch.dtype, int]] = {
    torch.float64: (torch.int64, 0x7FFDA5A5A5A5A5A5),
    torch.float32: (torch.int32, 0x7FE5A5A5),
    torch.float16: (torch.int16, 0x7FA5),
    torch.bfloat16: (torch.int16, 0x7FE5),
    torch.int64: (torch.int64, -0x5A5A5A5A5A5A5A5B),
    torch.bool: (torch.uint8, _BYTE),
}
"""The mark in each element, as a number of its bits, which no program writes by chance: a NaN unlike torch's own, which
arithmetic hands on; an odd number of eight bytes; a bool that is neither 0 nor 1."""


class Mark(NamedTuple):
    """A tensor that was marked."""

    tensor: Tensor
    version: int
    """Its version counter then."""
    bits: Tensor
    """Its memory as integers."""
    number: int
    """The one that marks each of them."""


def mark(tensor: Tensor) -> Mark:
    """Fill a tensor with marks."""
    bits, number = _bits(tensor)
    bits.fill_(number)
    return Mark(tensor, version_of(tensor), bits, number)


def version_of(tensor: Tensor | None) -> int:
    """How often a tensor was written; 0 for None, and for one of inference mode, which does not count."""
    return 0 if tensor is None or tensor.is_inference() else tensor._version


def unfilled(tensor: Tensor, version: int) -> int:
    """How many elements have their mark. All or none where a byte is no proof; a write through `.data` changes no version."""
    bits, number = _bits(tensor)
    found = bits == number
    if bits.numel() == tensor.numel() and tensor.dtype in _MARKS:
        return int(found.sum())
    if tensor.is_complex():
        return int(found.any(-1).sum())
    return tensor.numel() if version_of(tensor) == version and bool(found.all()) else 0


def _bits(tensor: Tensor) -> tuple[Tensor, int]:
    """The memory of a tensor as integers, a complex number as two of them, and the one that marks it."""
    # `.data`, because autograd refuses to write to a view of a complex parameter.
    data = torch.view_as_real(tensor.data) if tensor.is_complex() else tensor.data
    if data.dtype in _MARKS:
        bits, mark = _MARKS[data.dtype]
        return data.view(bits), mark
    return data.view(-1).view(torch.uint8), _BYTE
