"""Keys of fields: the name of a field, or a tuple of the names that lead to one in a nested object."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final

from .contents import contents
from .error_text import abridged, describe, suggestion
from .other_libraries import is_tensordict
from .stored import Stored

Key = str | tuple[str, ...]
"""A field's name, or the names that lead to a nested one."""

Values = Mapping[str, object] | Mapping[Key, object]
"""The argument of `update`: values by key. A mapping in place of a nested object is for that object."""

Pairs = list[tuple[Key, object]]
"""Keys, each with a value."""

NO_DEFAULT: Final = object()


def get(self: Stored, key: Key, default: object = NO_DEFAULT) -> Any:
    """The value of a field; a tuple names a field of a nested object, or a tensor in a dict or list.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> batch.get("tokens"), batch.get("weight", None)
    (tensor([0, 1]), None)

    Args:
        default: Returned where there is no such field, or where a nested object on the way is None.

    Raises:
        KeyError: there is no such field and no default.
        TypeError: `key` is neither a name nor a tuple of names.
    """
    return walked(self, path_of(key), default)


def walked(self: Stored, steps: tuple[str, ...], default: object = NO_DEFAULT) -> object:
    """The value at the end of a path of names."""
    found: object = self
    for position, name in enumerate(steps):
        if isinstance(found, (dict, list)) and name in (parts := parts_of(found)):
            found = parts[name]
        elif isinstance(found, Stored) and name in found._fields:
            found = getattr(found, name)
        elif default is not NO_DEFAULT:
            return default
        else:
            raise _unknown(found, name, steps[:position])
    return found


def parts_of(value: dict[str, object] | list[object]) -> Mapping[str, object]:
    """The tensors of a field that holds several, by the last part of their keys, which is the position in a list."""
    return value if isinstance(value, dict) else {str(at): part for at, part in enumerate(value)}


def owner_of(self: Stored, key: Key) -> tuple[Stored, str]:
    """The object that has the field of a key, and the field's name.

    Raises:
        KeyError: there is no such field.
        TypeError: `key` is neither a name nor a tuple of names.
    """
    if key in self._fields:
        return self, key
    steps = path_of(key)
    owner = walked(self, steps[:-1])
    if not steps or not isinstance(owner, Stored) or steps[-1] not in owner._fields:
        raise _unknown(owner, steps[-1] if steps else "", steps[:-1])
    return owner, steps[-1]


def pairs(self: Stored, values: Values | Stored | None, fields: Mapping[str, object] | None = None) -> Pairs:
    """The keys and values that `update` and its like are to write.

    Args:
        values: A mapping, an object of the same class, or one that tensordict made.
        fields: More values by name.

    Raises:
        TypeError: `values` is of another type.
    """
    if isinstance(values, type(self)):
        found: Pairs = [*contents(values).items()]
    elif isinstance(values, Mapping) or is_tensordict(values):
        found = [*values.items()]
    elif values is None:
        found = []
    else:
        raise TypeError(f"expected a mapping or a {type(self).__name__}, got {type(values).__name__}")
    return [*found, *fields.items()] if fields else found


def is_any_below(paths: Iterable[tuple[str, ...]], whole: Container[tuple[str, ...]]) -> bool:
    """True if one of the paths leads into what one of the others names as a whole."""
    for path in paths:
        for length in range(1, len(path)):
            if path[:length] in whole:
                return True
    return False


def path_of(key: Key) -> tuple[str, ...]:
    """The names that lead to the field of a key."""
    if isinstance(key, str):
        return (key,)
    if isinstance(key, (tuple, list)):
        return tuple(key)
    raise TypeError(f"expected the name of a field or a tuple of names as the key, got {describe(key)}")


def _unknown(owner: object, name: str, before: tuple[str, ...]) -> KeyError:
    if isinstance(owner, Stored):
        return FieldError(f"{type(owner).__name__} has no field {abridged(name)}{suggestion(name, owner._fields)}")
    if isinstance(owner, (dict, list)):
        return FieldError(f"{'.'.join(before)} has no tensor {abridged(name)}; there are: {', '.join(parts_of(owner))}")
    return FieldError(
        f"{'.'.join(before)} is {'None' if owner is None else type(owner).__name__}: it has no field {abridged(name)}"
    )


class FieldError(KeyError):
    """There is no such field. Unlike a plain KeyError it shows its message unquoted."""

    def __str__(self) -> str:
        return str(self.args[0])
