"""Fields by key: which there are, their items, setting them, and several at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeVar, cast, overload

from torch import Tensor

from ..core.construction import construct
from ..core.contents import contents, shallow_copy
from ..core.errors import suggestion
from ..core.indices import Index
from ..core.locks import refuse_if_locked
from ..core.lookup import NO_DEFAULT, Key, Values, get, owner_of, pairs
from ..core.stored import Stored
from ..fields import annotated_shapes
from .indexing import getitem, plain_index
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
        if include_nested and is_object and isinstance(value, Stored):
            yield from _walk(value, steps, include_nested)


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


def get_at(self: Stored, key: Key, index: Index, default: object = NO_DEFAULT) -> object:
    """The items of a field that `index` selects along the batch dimensions: `batch[index].get(key)`, but for that field alone.

        batch.get_at("tokens", 0), batch.get_at(("point", "weight"), mask)

    Args:
        default: Returned where `get` returns it.

    Raises:
        KeyError: there is no such field and no default.
        IndexError: the index is out of range or reaches beyond the batch dimensions.
    """
    found = get(self, key, default)
    if found is default:
        return found
    owner, name = owner_of(self, key)
    if isinstance(found, Tensor) and name not in owner._unbatched:
        return found[plain_index(self, index)]
    return get(getitem(self, index), key)


def set(self: T, key: Key, value: object, inplace: bool = False, non_blocking: bool = False) -> T:
    """Set a field as assignment to the attribute does, checks included; a tuple names a field of a nested object.

        batch.set("tokens", tokens), batch.set(("point", "weight"), weight, inplace=True)

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
    if inplace and name not in owner._static and getattr(owner, name) is not None:
        write(owner, name, value, non_blocking)
    elif non_blocking and isinstance(value, Tensor) and owner._device is not None:
        setattr(owner, name, value.to(owner._device, non_blocking=True))
    else:
        setattr(owner, name, value)
    return self


def setdefault(self: Stored, key: Key, default: object) -> object:
    """The value of a field; one that is None is set to `default` first.

        batch.setdefault("mask", torch.ones(4))

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


def pop(self: Stored, key: Key) -> object:
    """Take the value out of an optional tensor or nested field, which is None afterwards.

    Raises:
        KeyError: there is no such field.
        TypeError: the field is static, or not optional.
        RuntimeError: the object is locked.
    """
    owner, name = owner_of(self, key)
    fields = type(owner)._declaration.fields
    if name in owner._static or not any(field.optional for field in fields if field.name == name):
        raise TypeError(f"{type(owner).__name__}.{name} cannot be popped: only optional tensors and objects can be")
    value: object = getattr(owner, name)
    setattr(owner, name, None)
    return value


@overload
def update(self: T, values: Mapping[str, object] | T, *, inplace: bool = False, non_blocking: bool = False) -> T: ...
@overload
def update(self: T, values: Mapping[Key, object], *, inplace: bool = False, non_blocking: bool = False) -> T: ...
def update(self: T, values: Values | T, *, inplace: bool = False, non_blocking: bool = False) -> T:
    """Set several fields, or all that another object of the class has; a mapping in place of a nested object updates that object.

        batch.update({"tokens": tokens, "point": {"weight": weight}}), batch.update({("point", "weight"): weight})

    Args:
        inplace: Write into the tensors that are there, as in `set`.
        non_blocking: Do not wait for copies to another device.

    Raises:
        KeyError: there is no such field; nothing is written then.
        TypeError: a value is of another type than its field.
        ValueError: a shape does not fit.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    together: list[tuple[Stored, dict[str, object]]] = []
    for key, value in pairs(self, values):
        owner, name = owner_of(self, key)
        # By identity, and not by `id`, which a graph would be specialised on.
        known = [changes for other, changes in together if other is owner]
        if known:
            known[0][name] = value
        else:
            together.append((owner, {name: value}))
    for owner, changes in together:
        _update_fields(owner, changes, inplace, non_blocking)
    return self


def _update_fields(self: Stored, values: dict[str, object], inplace: bool, non_blocking: bool) -> None:
    """`update` for the fields of one object; those whose annotations say shapes are compared with one another first."""
    shaped = {} if inplace else {name: value for name, value in values.items() if name in self._shapes}
    if len(shaped) > 1:
        refuse_if_locked(self, "update")
        annotated_shapes.set_together(self, shaped)
        values = {name: value for name, value in values.items() if name not in shaped}
    for name, value in values.items():
        inner = getattr(self, name) if name in self._nested and isinstance(value, Mapping) else None
        if inner is None:
            set(self, name, value, inplace, non_blocking)
        else:
            update(inner, cast("Values", value), inplace=inplace, non_blocking=non_blocking)


def select(self: Stored, *keys: Key) -> dict[str, object]:
    """Some fields as a dict, in the order asked for; of a nested object that a tuple leads into, a dict of the fields asked for.

        batch.select("tokens", ("point", "weight"))  # {"tokens": ..., "point": {"weight": ...}}

    The result is not an object, because that has every field. `update` takes it.

    Raises:
        KeyError: there is no such field.
    """
    chosen: dict[str, object] = {}
    for key in keys:
        value = get(self, key)
        *path, name = (key,) if isinstance(key, str) else key
        inner = chosen
        for step in path:
            inner = cast("dict[str, object]", inner.setdefault(step, {}))
        inner[name] = value
    return chosen


def exclude(self: Stored, *keys: Key) -> dict[str, object]:
    """The fields that are not named, as a dict; a nested object that a tuple leads into is a dict of its other fields.

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


def replace(self: T, **changes: object) -> T:
    """A new object with other values in some fields; `batch_size`, `device`, `names` and `lock` can be changed too.

    It is constructed, as by `dataclasses.replace`: values are checked and `__post_init__` runs. Tensors are not copied; nested
    objects that stay are new ones around the same tensors, which no lock of the old object holds.

        batch.replace(mask=None)

    Raises:
        TypeError: there is no such field.
    """
    for name in changes:
        if name not in self._fields and name not in ("batch_size", "device", "names", "lock"):
            raise TypeError(f"{type(self).__name__}.replace: no field {name!r}{suggestion(name, self._fields)}")
    unchanged = {**contents(shallow_copy(self)), "batch_size": self._batch_size, "device": self._device}
    if self._names is not None and "batch_size" not in changes:
        unchanged["names"] = self._names
    return construct(type(self), {**unchanged, **changes})
