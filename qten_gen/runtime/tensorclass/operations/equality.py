"""Functions of torch that answer a question about objects: whether they are equal, or close."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core.contents import contents
from ..core.error_text import describe
from ..core.stored import Stored
from ..fields import static
from ..methods.metadata import Metadata
from ..methods.operands import Function
from .entries import Group, Operation, among
from .reduction_ops import truth


def allclose(
    input: Stored | Tensor, other: Stored | Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all numbers are close to those of another object, or of a tensor over the batch."""
    found = among("allclose", torch.isclose, (input, other), rtol, atol, equal_nan)
    return truth([tensor.all() for tensor in found._leaves()], torch.logical_and, True)


def equal(input: object, other: object) -> bool:
    """Whether two objects are of one class and batch size, and hold equal tensors and static values."""
    for each in (input, other):
        if not isinstance(each, Stored):
            raise TypeError(f"equal: expected two objects, got {describe(each)}")
    return _are_equal(input, other)


def _are_equal(one: object, other: object) -> bool:
    """Whether two objects, or what they hold in a field, are the same."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if not isinstance(one, Stored) or type(other) is not type(one) or not isinstance(other, Stored):
        return one is None and other is None
    if one._batch_size != other._batch_size:
        return False
    mine, theirs = contents(one), contents(other)
    return all(
        static.equal(mine[name], theirs[name]) if name in one._static else _are_equal(mine[name], theirs[name])
        for name in mine
    )


def _answer(method: Function, function: Function) -> Operation:
    return Operation(method.__name__, "", method, (function,), method, is_method=False)


COMPARING_GROUP = Group(
    "Comparing objects",
    "The result is a bool.",
    (
        _answer(allclose, torch.allclose),
        _answer(equal, torch.equal),
        _answer(Metadata.is_floating_point, torch.is_floating_point),
    ),
)
