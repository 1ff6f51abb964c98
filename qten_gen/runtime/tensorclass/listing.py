"""What fields an object has: names, values, and whether there is a tensor at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, cast, overload

from torch import Tensor

from .contents import contents
from .lookup import Key

if TYPE_CHECKING:
    from .tensorclass import TensorClass


@overload
def keys(self: TensorClass) -> tuple[str, ...]: ...
@overload
def keys(
    self: TensorClass, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[str, ...]: ...
@overload
def keys(
    self: TensorClass, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
) -> tuple[Key, ...]: ...
def keys(
    self: TensorClass, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[Key, ...]:
    """The names of the fields, in the order of the constructor. Every field is there, also one that is None.

        batch.keys(), batch.keys(include_nested=True, leaves_only=True)  # ("tokens", ("point", "weight"))

    Args:
        include_nested: Also the fields of nested objects, as tuples of names.
        leaves_only: Only fields that hold a tensor, and no None, static value or object.
        sort: In alphabetical order.
    """
    if not include_nested and not leaves_only and not sort:
        return self._fields
    return tuple(key for key, _ in items(self, include_nested, leaves_only, sort=sort))


def values(
    self: TensorClass, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[object, ...]:
    """The values of the fields, None and static ones included; the arguments are those of `keys`."""
    return tuple(value for _, value in items(self, include_nested, leaves_only, sort=sort))


@overload
def items(self: TensorClass) -> tuple[tuple[str, object], ...]: ...
@overload
def items(
    self: TensorClass, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[str, object], ...]: ...
@overload
def items(
    self: TensorClass, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[Key, object], ...]: ...
def items(
    self: TensorClass, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[Key, object], ...]:
    """Names and values of the fields; the arguments are those of `keys`."""
    found = list(_walk(self, ()) if include_nested else contents(self).items())
    if leaves_only:
        found = [(key, value) for key, value in found if isinstance(value, Tensor)]
    if sort:
        found.sort(key=lambda item: ".".join(item[0]) if isinstance(item[0], tuple) else item[0])
    return tuple(found)


def _walk(self: TensorClass, path: tuple[str, ...]) -> Iterator[tuple[Key, object]]:
    """Keys and values, those of a nested object behind itself."""
    for name, value in contents(self).items():
        steps = (*path, name)
        yield (steps if path else name), value
        if name in self._nested and value is not None:
            yield from _walk(cast("TensorClass", value), steps)


def sorted_keys(self: TensorClass) -> tuple[str, ...]:
    """The names of the fields in alphabetical order."""
    return tuple(sorted(self._fields))


def is_empty(self: TensorClass) -> bool:
    """Whether the object holds no tensor at all."""
    return not self._leaves()


def contains(self: TensorClass, item: object) -> bool:
    """Refuse `in`, which would compare the items.

    Raises:
        TypeError: always.
    """
    raise TypeError(f"`in` is not defined for {type(self).__name__}: it has items and fields; ask `in batch.keys()`")
