"""What fields an object has: names, values, and whether there is a tensor at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast, overload

from ..core.contents import contents
from ..core.lookup import Key
from ..core.stored import Stored


@overload
def keys(self: Stored) -> tuple[str, ...]: ...
@overload
def keys(
    self: Stored, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[str, ...]: ...
@overload
def keys(self: Stored, include_nested: bool, leaves_only: bool = False, *, sort: bool = False) -> tuple[Key, ...]: ...
def keys(
    self: Stored, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[Key, ...]:
    """The names of the fields, in the order of the constructor. Every field is there, also one that is None.

        batch.keys(), batch.keys(include_nested=True, leaves_only=True)  # ("tokens", ("point", "weight"))

    Args:
        include_nested: Also the fields of nested objects, as tuples of names.
        leaves_only: Only fields that hold a tensor, or a dict or list of tensors, and no None, static value or object.
        sort: In alphabetical order.
    """
    if not include_nested and not leaves_only and not sort:
        return self._fields
    return tuple(key for key, _ in items(self, include_nested, leaves_only, sort=sort))


def values(
    self: Stored, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[object, ...]:
    """The values of the fields, None and static ones included; the arguments are those of `keys`."""
    return tuple(value for _, value in items(self, include_nested, leaves_only, sort=sort))


@overload
def items(self: Stored) -> tuple[tuple[str, object], ...]: ...
@overload
def items(
    self: Stored, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[str, object], ...]: ...
@overload
def items(
    self: Stored, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[Key, object], ...]: ...
def items(
    self: Stored, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[Key, object], ...]:
    """Names and values of the fields; the arguments are those of `keys`."""
    found = [(key, value) for key, value, is_leaf in _walk(self, (), include_nested) if is_leaf or not leaves_only]
    if sort:
        found.sort(key=lambda item: ".".join(item[0]) if isinstance(item[0], tuple) else item[0])
    return tuple(found)


def _walk(self: Stored, path: tuple[str, ...], include_nested: bool) -> Iterator[tuple[Key, object, bool]]:
    """Keys and values, and whether there are tensors in them and no object; the fields of a nested object behind itself."""
    for name, value in contents(self).items():
        steps = (*path, name)
        is_object = name in self._nested and value is not None
        yield (steps if path else name), value, not is_object and value is not None and name not in self._static
        if is_object and include_nested:
            yield from _walk(cast("Stored", value), steps, include_nested)


def sorted_keys(self: Stored) -> tuple[str, ...]:
    """The names of the fields in alphabetical order."""
    return tuple(sorted(self._fields))


def is_empty(self: Stored) -> bool:
    """Whether the object holds no tensor at all."""
    return not self._leaves()


def contains(self: Stored, item: object) -> bool:
    """Refuse `in`, which would compare the items.

    Raises:
        TypeError: always.
    """
    raise TypeError(f"`in` is not defined for {type(self).__name__}: it has items and fields; ask `in batch.keys()`")
