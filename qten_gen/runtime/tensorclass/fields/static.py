"""Static fields: Python values that are the same for a whole batch, and therefore for all objects that are combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from ..core.errors import describe, label
from ..core.stored import Stored

S = TypeVar("S")


@runtime_checkable
class SupportsAll(Protocol):
    """The result of comparing two arrays."""

    def all(self) -> object: ...


_CASTS: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "complex": complex, "str": str}


def cast_static(self: Stored, name: str, to: str, value: object) -> Any:  # of the type that `to` names
    """Convert the value of a static field of an `autocast` class to `int`, `float`, `bool`, `complex` or `str`."""
    kind = _CASTS[to]
    if type(value) is kind:
        return value
    try:
        found: object = kind(value)
        return found
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{label(self, name)}: cannot convert {describe(value)} to {to}: {error}") from error


def equal(left: object, right: object) -> bool:
    """Whether two static values are the same, arrays included."""
    if left is right:
        return True
    try:
        same: object = left == right
        return bool(same.all() if isinstance(same, SupportsAll) else same)
    except (RuntimeError, ValueError, TypeError):
        return False


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
                f"{first!r} and {value!r}; a PerItem field has a value for each item"
            )
    return first
