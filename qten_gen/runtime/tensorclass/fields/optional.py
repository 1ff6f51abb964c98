"""Fields that may be None: what generated code calls for an optional tensor, and the rule for optional fields of every kind.

An optional field is None in all the objects that an operation combines, or in none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from torch import Size, Tensor

from ..core.error_text import label
from ..core.stored import Stored

A = TypeVar("A")
V = TypeVar("V")

Join = Callable[[list[Tensor]], Tensor]
"""`torch.stack` or `torch.cat`: joins along the first dimension, or along the one that a `partial` of it says."""


def all_or_none(self: Stored, name: str, values: Sequence[V | None]) -> list[V] | None:
    """The values of an optional field in several objects, or None where it is None in all of them.

    Raises:
        TypeError: it is None in some of them.
    """
    present = [value for value in values if value is not None]
    if len(present) == len(values):
        return present
    if not present:
        return None
    missing = len(values) - len(present)
    raise TypeError(
        f"{label(self, name)}: expected a value in every object or in none, {missing} of {len(values)} are None"
    )


def match_optional(self: Stored, name: str, left: object, right: object) -> None:
    """Refuse an optional field that is None in one of two objects.

    Raises:
        TypeError: it is.
    """
    if (left is None) is not (right is None):
        all_or_none(self, name, [left, right])


def zip_optional(
    self: Stored, name: str, fn: Callable[[Tensor, Tensor], Tensor], left: Tensor | None, right: Tensor | None
) -> Tensor | None:
    """Apply `fn` to an optional tensor field of two objects, which is None in both or in neither."""
    present = all_or_none(self, name, [left, right])
    return None if present is None else fn(present[0], present[1])


def join_optional(self: Stored, name: str, fn: Join, values: Sequence[Tensor | None]) -> Tensor | None:
    """Join an optional tensor field, which is None in all objects or in none."""
    present = all_or_none(self, name, values)
    return None if present is None else fn(present)


def part_optional(
    fn: Callable[[Tensor, A], Sequence[Tensor]], value: Tensor | None, argument: A, batch_sizes: Sequence[Size]
) -> Sequence[Tensor | None]:
    """The pieces of an optional tensor field: None for each where it is None."""
    return [None] * len(batch_sizes) if value is None else fn(value, argument)


def put_optional(self: Stored, name: str, target: Tensor | None, index: object, value: Tensor | None) -> None:
    """Write items of an optional tensor field, which is None in both objects or in neither."""
    present = all_or_none(self, name, [target, value])
    if present is not None:
        present[0][index] = present[1]  # type: ignore[index] # `index` was made by the runtime
