"""The one value that a static field has in all objects, and what makes two values the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

from ..core.error_text import difference, label
from ..core.stored import Stored
from .static import PLAIN

S = TypeVar("S")


def equal(left: object, right: object) -> bool:
    """True if two static values are the same, also with arrays in them: arrays of one shape and dtype, NaN included."""
    if left is right:
        return True
    if type(left) in PLAIN and type(right) in PLAIN:
        return left == right or (left != left and right != right)
    try:
        return _equal(left, right)
    except (RuntimeError, ValueError, TypeError):
        return False


def _equal(left: Any, right: Any) -> bool:
    """`equal` of values that are not plain. What `==` raises for some of them is for `equal` to catch."""
    kind = type(left)
    if _is_array(left) or _is_array(right):
        alike = kind is type(right) and left.shape == right.shape and left.dtype == right.dtype
        return alike and (_all(left == right) or _all((left == right) | ((left != left) & (right != right))))
    if kind in (list, tuple) and kind is type(right):
        return len(left) == len(right) and all(map(equal, left, right))
    if kind is dict and type(right) is dict:
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    is_dataclass = kind is type(right) and dataclasses.is_dataclass(kind)
    try:
        same = left == right
        if isinstance(same, bool) or not is_dataclass:
            return _all(same)
    except ValueError:
        if not is_dataclass:
            raise
    # The `==` that `dataclass` writes refuses arrays, or since Python 3.13 may give one.
    return all(equal(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))


def _is_array(value: object) -> bool:
    """True if a value has a shape with dimensions, as arrays have and the numbers of NumPy do not."""
    return hasattr(value, "dtype") and bool(getattr(value, "shape", ()))


def _all(same: Any) -> bool:  # whatever `==` of two values gives
    return bool(same.all() if hasattr(same, "all") else same)


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
                f"{difference(first, value)}; a PerItem field has a value for each item"
            )
    return first
