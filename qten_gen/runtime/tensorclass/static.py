"""Static fields: values that are the same for a whole batch, and therefore for all objects that are put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, cast, runtime_checkable

from .checks import label
from .contents import contents
from .joining import all_or_none

if TYPE_CHECKING:
    from .tensorclass import TensorClass


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


def refuse_unlike(self: TensorClass, other: TensorClass) -> None:
    """Compare what has to be alike before items are written: static values, and which fields are None.

    Raises:
        ValueError: two static values differ; both are named.
        TypeError: a field is None in one object only.
    """
    mine, theirs = contents(self), contents(other)
    for name in self._fields:
        left, right = mine[name], theirs[name]
        if name in self._static:
            same(self, name, [left, right])
        elif all_or_none(self, name, [left, right]) and type(left) is type(right) and name in self._nested:
            refuse_unlike(cast("TensorClass", left), cast("TensorClass", right))


S = TypeVar("S")


def same(self: TensorClass, name: str, values: Sequence[S]) -> S:
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
