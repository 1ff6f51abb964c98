"""Fields by key: which there are, their items, setting one, and taking some out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeVar, overload

from torch import Tensor
from torch.utils._pytree import tree_leaves

from ..core.contents import contents
from ..core.error_text import label
from ..core.lookup import NO_DEFAULT, Key, get, is_any_below, owner_of, parts_of, path_of
from ..core.stored import Stored
from .inplace import write

T = TypeVar("T", bound=Stored)


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

    >>> batch = Batch(torch.arange(4), batch_size=4)
    >>> batch.keys(), batch.keys(include_nested=True, leaves_only=True)
    (('tokens', 'mask'), ('tokens',))

    Args:
        include_nested: Also the fields of nested objects, as tuples of names.
        leaves_only: Only fields that hold a tensor, or a dict or list of tensors, and no None, static value or object. With
            `include_nested`, each tensor of a dict or list in place of the field, with its key or position as the last name.
        sort: In alphabetical order.
    """
    if not include_nested and not leaves_only and not sort:
        return self._fields
    return tuple(key for key, _ in items(self, include_nested, leaves_only, sort=sort))


@overload
def items(
    self: Stored, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[str, Any], ...]: ...
@overload
def items(
    self: Stored, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[Key, Any], ...]: ...
def items(
    self: Stored, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
) -> tuple[tuple[Key, Any], ...]:
    """Names and values of the fields; the arguments are as in `keys`.

    >>> dict(Batch(torch.arange(4), batch_size=4).items())
    {'tokens': tensor([0, 1, 2, 3]), 'mask': None}
    """
    found: list[tuple[Key, object]] = []
    for key, value, is_leaf in _walk(self, (), include_nested):
        if leaves_only and include_nested and is_leaf and isinstance(value, (dict, list)):
            steps = (key,) if isinstance(key, str) else key
            found += [((*steps, part), tensor) for part, tensor in parts_of(value).items()]
        elif is_leaf or not leaves_only:
            found.append((key, value))
    if sort:
        found.sort(key=lambda item: ".".join(item[0]) if isinstance(item[0], tuple) else item[0])
    return tuple(found)


def keys_of_tensors(self: Stored) -> list[Key]:
    """The key of the field of every tensor, in the order in which primitives come to them."""
    found: list[Key] = []
    for key, value, is_leaf in _walk(self, (), include_nested=True, of_values=True):
        found += [key for leaf in tree_leaves(value) if is_leaf and isinstance(leaf, Tensor)]
    return found


def _walk(
    self: Stored, path: tuple[str, ...], include_nested: bool, of_values: bool = False
) -> Iterator[tuple[Key, object, bool]]:
    """Keys and values, and whether there are tensors in them and no object; the fields of a nested object behind itself."""
    for name, value in contents(self).items():
        if name in self.__structure__ and of_values:
            continue
        steps = (*path, name)
        is_object = name in self._nested and value is not None
        yield (steps if path else name), value, not is_object and value is not None and name not in self._static
        if include_nested and is_object and isinstance(value, Stored):
            yield from _walk(value, steps, include_nested, of_values)


def is_empty(self: Stored) -> bool:
    """True if the object holds no tensor at all.

    >>> Batch(torch.arange(4), batch_size=4).is_empty()
    False
    """
    return not self._leaves()


def contains(self: Stored, item: object) -> bool:
    """Refuse `in`, which would compare the items.

    Raises:
        TypeError: always.
    """
    raise TypeError(f"`in` is not defined for {type(self).__name__}: it has items and fields; use `in batch.keys()`")


def set(self: T, key: Key, value: object, inplace: bool = False, non_blocking: bool = False) -> T:
    """Set a field as assignment to the attribute does, checks included; a tuple names a field of a nested object.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> batch.set("mask", torch.ones(2)).mask
    tensor([1., 1.])

    Args:
        inplace: Write into the tensors that are there, as `set_` does, where the field holds some; a locked object allows that.
        non_blocking: Do not wait for the copy to another device.

    Raises:
        KeyError: there is no such field.
        TypeError: the value is of another type than the field.
        ValueError: its shape does not fit.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    owner, name = owner_of(self, key)
    if inplace and name not in owner._static and getattr(owner, name, None) is not None:
        write(owner, name, value, non_blocking)
    elif non_blocking and isinstance(value, Tensor) and owner._device is not None:
        setattr(owner, name, value.to(owner._device, non_blocking=True))
    else:
        setattr(owner, name, value)
    return self


def setdefault(self: Stored, key: Key, default: object) -> Any:
    """The value of a field; one that is None is set to `default` first.

    >>> Batch(torch.arange(2), batch_size=2).setdefault("mask", torch.ones(2))
    tensor([1., 1.])

    Raises:
        KeyError: there is no such field.
        TypeError: `default` is of another type than the field.
        ValueError: its shape does not fit.
        RuntimeError: the field is None and the object is locked.
    """
    owner, name = owner_of(self, key)
    if getattr(owner, name) is None:
        setattr(owner, name, default)
    found: object = getattr(owner, name)
    return found


def pop(self: Stored, key: Key, default: object = NO_DEFAULT) -> Any:
    """Take the value out of an optional tensor or nested field, which is None afterwards.

    >>> batch = Batch(torch.arange(2), torch.ones(2), batch_size=2)
    >>> batch.pop("mask"), batch.mask
    (tensor([1., 1.]), None)

    Args:
        default: Returned where there is no such field, or where it is None already.

    Raises:
        KeyError: there is no such field and no default.
        TypeError: the field is static, or not optional.
        RuntimeError: the object is locked.
    """
    if default is not NO_DEFAULT and get(self, key, None) is None:
        return default
    owner, name = owner_of(self, key)
    if not _may_be_none(owner, name):
        raise TypeError(
            f"{label(owner, name)} cannot be popped: only optional tensors and objects can be; "
            f"read it with .get({key!r})"
        )
    value: object = getattr(owner, name)
    setattr(owner, name, None)
    return value


def delete(self: Stored, name: str) -> None:
    """`del batch.mask`: an optional tensor or nested field is None afterwards.

    Raises:
        AttributeError: the field is static, or not optional.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    if not _may_be_none(self, name):
        raise AttributeError(
            f"{label(self, name)} cannot be deleted: every object has the fields of its class, "
            "and only optional tensors and objects can be None"
        )
    setattr(self, name, None)


def _may_be_none(self: Stored, name: str) -> bool:
    """True if a field holds an optional tensor or object."""
    fields = type(self)._declared_as.fields
    return name not in self._static and any(field.optional for field in fields if field.name == name)


def select(self: Stored, *keys: Key) -> dict[str, Any]:
    """Some fields as a dict, in the order asked for. A tuple key gives a dict of that part of the nested object.

    >>> Batch(torch.arange(2), batch_size=2).select("tokens")
    {'tokens': tensor([0, 1])}

    The result is not an object, because that has every field. `update` takes it. A key that leads into an object that another
    key names adds nothing: `select("point", ("point", "x"))` has the whole `point`.

    Raises:
        KeyError: there is no such field.
    """
    found: dict[str, Any] = {}
    paths = [path_of(key) for key in keys]
    for whole in paths:
        value = get(self, whole)
        if is_any_below([whole], paths):
            continue
        *path, name = whole
        inner = found
        for step in path:
            inner = inner.setdefault(step, {})  # compiled code would write into a copy if this were `cast`
        inner[name] = value
    return found


def exclude(self: Stored, *keys: Key) -> dict[str, Any]:
    """The fields that are not named, as a dict; a nested object that a tuple leads into is a dict of its other fields.

    >>> Batch(torch.arange(2), batch_size=2).exclude("mask")
    {'tokens': tensor([0, 1])}

    Raises:
        KeyError: there is no such field.
    """
    for key in keys:
        owner_of(self, key)
    left = {name: value for name, value in contents(self).items() if name not in keys and (name,) not in keys}
    for name in {key[0] for key in keys if isinstance(key, tuple) and len(key) > 1} & left.keys():
        inner = [key[1:] for key in keys if isinstance(key, tuple) and len(key) > 1 and key[0] == name]
        nested = left[name]
        if isinstance(nested, Stored):
            left[name] = exclude(nested, *inner)
    return left
