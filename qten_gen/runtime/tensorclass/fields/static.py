"""Static and Unbatched fields: values that are the same for a whole batch, and therefore for all objects put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from ..core.checks import label, named
from ..core.stored import Stored
from ..methods.joining import all_or_none


@runtime_checkable
class SupportsAll(Protocol):
    """The result of comparing two arrays."""

    def all(self) -> object: ...


def equal(left: object, right: object) -> bool:
    """Whether two static values are the same, arrays included."""
    if left is right:
        return True
    try:
        same: object = left == right
        return bool(same.all() if isinstance(same, SupportsAll) else same)
    except (RuntimeError, ValueError, TypeError):
        return False


def same_tensor(self: Stored, name: str, values: Sequence[Tensor | None]) -> Tensor | None:
    """The one tensor that an Unbatched field has in all of `values`: the same object, or an equal one.

    Raises:
        ValueError: two tensors differ; both are described.
    """
    first = values[0]
    for value in values:
        if value is not first and not (first is not None and value is not None and _equal_tensors(first, value)):
            raise ValueError(
                f"{label(self, name)} is not carried by the batch, but differs between the objects: "
                f"{named(first)} and {named(value)}"
            )
    return first


def _equal_tensors(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are alike in all that can be seen, NaN included; of meta and fake tensors that is no value."""
    if left.shape != right.shape or left.dtype != right.dtype or left.device != right.device:
        return False
    if left.is_meta or isinstance(left, FakeTensor):
        return True
    return torch.equal(left, right) or torch.allclose(left, right, rtol=0, atol=0, equal_nan=True)


S = TypeVar("S")


def same(self: Stored, name: str, values: Sequence[S]) -> S:
    """The one value that a static field has in all of `values`.

    Raises:
        ValueError: two values differ; both are named.
    """
    first = values[0]
    for value in values:
        if value is not first and not equal(first, value):
            raise ValueError(
                f"{label(self, name)} is the same for a whole batch, but differs between the objects: "
                f"{first!r} and {value!r}"
            )
    return first


# What generated code calls before the items of one object are written into another


def match_nothing(self: Stored, other: Stored) -> None:
    """The `_check_compatible` of a class whose objects are always alike: no field of it is static, nested or optional."""


def match_optional(self: Stored, name: str, left: object, right: object) -> None:
    """Refuse an optional field that is None in one of two objects.

    Raises:
        TypeError: it is.
    """
    if (left is None) is not (right is None):
        all_or_none(self, name, [left, right])


def match_nested(self: Stored, name: str, left: Stored | None, right: Stored | None) -> None:
    """Refuse the nested objects of two objects where one is None, or where they are of one class and not alike.

    Raises:
        TypeError: one of them is None.
    """
    if left is None or right is None:
        match_optional(self, name, left, right)
    elif type(left) is type(right):
        left._check_compatible(right)
