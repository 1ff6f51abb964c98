"""Several fields at once: set in an object, or changed in a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, cast, overload

from ....common.naming import storage
from ..core.construction import construct
from ..core.contents import contents, copied, shallow_copy
from ..core.error_text import abridged, describe, suggestion
from ..core.locks import refuse_if_locked
from ..core.lookup import Key, Values, is_any_below, owner_of, pairs
from ..core.stored import Stored
from ..fields import annotated_shapes
from . import keys

T = TypeVar("T", bound=Stored)


@overload
def update(
    self: T,
    values: Mapping[str, object] | T | None = None,
    clone: bool = False,
    inplace: bool = False,
    *,
    non_blocking: bool = False,
    **fields: object,
) -> T: ...
@overload
def update(
    self: T,
    values: Mapping[Key, object],
    clone: bool = False,
    inplace: bool = False,
    *,
    non_blocking: bool = False,
    **fields: object,
) -> T: ...
def update(
    self: T,
    values: Values | T | None = None,
    clone: bool = False,
    inplace: bool = False,
    *,
    non_blocking: bool = False,
    **fields: object,
) -> T:
    """Set several fields, or all that another object of the class has; a mapping in place of a nested object updates that object.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> batch.update({"mask": torch.ones(2)}, tokens=torch.zeros(2)).tokens
    tensor([0., 0.])

    Args:
        values: Values by key, or an object of the class.
        clone: Copy the tensors first, so that they are not shared with `values`.
        inplace: Write into the tensors that are there, as in `set`.
        non_blocking: Do not wait for copies to another device.
        fields: More values by name, which go before `values`.

    Raises:
        KeyError: there is no such field; nothing is written then.
        TypeError: a value is of another type than its field. Without `inplace`, no field is set then.
        ValueError: a shape does not fit; no field is set then, as for a type.
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    given = [*_assignments(self, pairs(self, values, fields))]
    deep = [assigned[0] for assigned in given if len(assigned[0]) > 1]
    if deep and is_any_below(deep, {assigned[0] for assigned in given}):
        # What one of them sets is the object that another one leads into.
        for path, _, _, value in given:
            update(self, {path: value}, clone, inplace, non_blocking=non_blocking)
        return self
    together: list[tuple[Stored, dict[str, object]]] = []
    for _, owner, name, value in given:
        # By identity, and not by `id`, which a graph would be specialised on.
        known = [changes for other, changes in together if other is owner]
        if not known:
            known.append({})
            together.append((owner, known[0]))
        known[0][name] = copied(value) if clone else value
    if inplace or len(given) < 2:
        for owner, changes in together:
            _update_fields(owner, changes, inplace, non_blocking)
        return self
    before = [
        (owner, storage(name), getattr(owner, storage(name)))
        for owner, changes in together
        for name in changes
        if hasattr(owner, storage(name))
    ]
    try:
        for owner, changes in together:
            _update_fields(owner, changes, inplace, non_blocking)
    except (TypeError, ValueError, RuntimeError):
        for owner, attribute, value in before:
            setattr(owner, attribute, value)
        raise
    return self


def _assignments(
    self: Stored, values: Iterable[tuple[Key, object]], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Stored, str, object]]:
    """The assignments of `update`: the path of names, the object and its field, and the value. A mapping gives several."""
    for key, value in values:
        owner, name = owner_of(self, key)
        path = (*before, key) if isinstance(key, str) else (*before, *key)
        inner = getattr(owner, name) if name in owner._nested and isinstance(value, Mapping) else None
        if inner is None:
            yield path, owner, name, value
        else:
            yield from _assignments(inner, pairs(inner, cast("Values", value)), path)


def _update_fields(self: Stored, values: dict[str, object], inplace: bool, non_blocking: bool) -> None:
    """`update` for the fields of one object; those whose annotations say shapes are compared with one another first."""
    shaped = {} if inplace else {name: value for name, value in values.items() if name in self._shapes}
    if len(shaped) > 1:
        refuse_if_locked(self, "update")
        annotated_shapes.set_together(self, shaped)
        values = {name: value for name, value in values.items() if name not in shaped}
    for name, value in values.items():
        keys.set(self, name, value, inplace, non_blocking)


def replace(self: T, values: Mapping[str, object] | T | None = None, /, **changes: object) -> T:
    """A new object with other values in some fields; `batch_size`, `device`, `names` and `lock` can be changed too.

    It is constructed, as by `dataclasses.replace`: values are checked and `__post_init__` runs. Tensors are not copied; nested
    objects that stay are new ones around the same tensors, which no lock of the old object holds.

    >>> batch = Batch(torch.arange(2), torch.ones(2), batch_size=2)
    >>> batch.replace(mask=None).mask is None, batch.mask
    (True, tensor([1., 1.]))

    Args:
        values: Values by the names of fields, or an object of the class, whose values are all taken.
        changes: More values, which go before `values`.

    Raises:
        TypeError: there is no such field.
    """
    if values is not None:
        changes = {**_by_name(self, values), **changes}
    for name in changes:
        if name not in self._fields and name not in ("batch_size", "device", "names", "lock"):
            raise TypeError(f"{type(self).__name__}.replace: no field {abridged(name)}{suggestion(name, self._fields)}")
    unchanged = {**contents(shallow_copy(self)), "batch_size": self._batch_size, "device": self._device}
    if self._names is not None and "batch_size" not in changes:
        unchanged["names"] = self._names
    return construct(type(self), {**unchanged, **changes})


def _by_name(self: Stored, values: Mapping[str, object] | Stored) -> dict[str, object]:
    """The one argument of `replace` as a dict by the names of fields."""
    given = contents(values) if isinstance(values, type(self)) else values
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{type(self).__name__}.replace: expected a mapping or a {type(self).__name__}, got {describe(values)}"
        )
    return {**given}
