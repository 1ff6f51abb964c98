"""Reading and writing fields by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar, cast

from . import array_checks
from .checks import refuse_if_locked, suggestion
from .contents import construct, contents

if TYPE_CHECKING:
    from .tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")

Key = str | tuple[str, ...]
"""A field's name, or the names that lead to a nested one."""

_NO_DEFAULT: Final = object()


def get(self: TensorClass, key: Key, default: object = _NO_DEFAULT) -> object:
    """The value of a field; a tuple names a field of a nested object.

        batch.get("tokens"), batch.get(("point", "weight")), batch.get(("point", "weight"), None)

    Args:
        default: Returned where there is no such field, or where a nested object on the way is None.

    Raises:
        KeyError: there is no such field and no default.
    """
    owner, name = self, ""
    steps = (key,) if isinstance(key, str) else key
    for position, name in enumerate(steps):
        if name not in getattr(owner, "_fields", ()):
            if default is not _NO_DEFAULT:
                return default
            raise _unknown(owner, name, steps[:position])
        owner = getattr(owner, name)
    return owner


def set(self: T, key: Key, value: object) -> T:
    """Write a field as assignment to the attribute does, checks included; a tuple names a field of a nested object.

    Raises:
        KeyError: there is no such field.
    """
    steps = (key,) if isinstance(key, str) else key
    owner = get(self, steps[:-1])
    if steps[-1] not in getattr(owner, "_fields", ()):
        raise _unknown(owner, steps[-1], steps[:-1])
    setattr(owner, steps[-1], value)
    return self


def update(self: T, values: Mapping[str, object]) -> T:
    """Write several fields; a mapping in place of a nested object updates that object.

    Raises:
        KeyError: there is no such field; nothing is written then.
    """
    for name in values:
        if name not in self._fields:
            raise _unknown(self, name, ())
    shaped = {name: value for name, value in values.items() if name in self._shapes}
    if len(shaped) > 1:
        refuse_if_locked(self, "update")
        array_checks.set_together(self, shaped)
        values = {name: value for name, value in values.items() if name not in shaped}
    for name, value in values.items():
        if name in self._nested and isinstance(value, Mapping) and getattr(self, name) is not None:
            update(getattr(self, name), value)
        else:
            setattr(self, name, value)
    return self


def select(self: TensorClass, *keys: str) -> dict[str, object]:
    """Some fields as a dict, in the order asked for.

    Raises:
        KeyError: there is no such field.
    """
    return {key: get(self, key) for key in keys}


def replace(self: T, **changes: object) -> T:
    """A new object with other values in some fields; `batch_size`, `device`, `names` and `lock` can be changed too.

    It is constructed, as by `dataclasses.replace`: values are checked and `__post_init__` runs. Tensors are not copied.

        batch.replace(mask=None)

    Raises:
        TypeError: there is no such field.
    """
    for name in changes:
        if name not in self._fields and name not in ("batch_size", "device", "names", "lock"):
            raise TypeError(f"{type(self).__name__}.replace: no field {name!r}{suggestion(name, self._fields)}")
    unchanged = {**contents(self), "batch_size": self._batch_size, "device": self._device}
    if self._names is not None and "batch_size" not in changes:
        unchanged["names"] = self._names
    return construct(type(self), {**unchanged, **changes})


def keys(self: TensorClass) -> tuple[str, ...]:
    """The names of the fields, in the order of the constructor."""
    return self._fields


def values(self: TensorClass) -> tuple[object, ...]:
    """The values of the fields, None and static ones included."""
    return tuple(contents(self).values())


def items(self: TensorClass) -> tuple[tuple[str, object], ...]:
    """Names and values of the fields."""
    return tuple(contents(self).items())


def _unknown(owner: object, name: str, before: tuple[str, ...]) -> KeyError:
    if not hasattr(owner, "_fields"):
        return FieldError(
            f"{'.'.join(before)} is {'None' if owner is None else type(owner).__name__}: it has no field {name!r}"
        )
    self = cast("TensorClass", owner)
    return FieldError(f"{type(self).__name__} has no field {name!r}{suggestion(name, self._fields)}")


class FieldError(KeyError):
    """There is no such field. Unlike a plain KeyError it shows its message unquoted."""

    def __str__(self) -> str:
        return str(self.args[0])
