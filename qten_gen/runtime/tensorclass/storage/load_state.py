"""Loading state dicts: everything is compared first, and all that does not fit is in one error; then it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Size, Tensor

from ....common.state_names import listed
from ..core import dimension_names
from ..core.contents import contents
from ..core.error_text import abridged, describe, label
from ..core.locks import refuse_if_frozen, refuse_if_locked
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from ..fields.as_declared import as_declared
from ..fields.static import equal
from .json_values import decode, enum_of
from .state_dict import Level, dotless

T = TypeVar("T", bound=Stored)


class Change(NamedTuple):
    """The new content of an object where more changes than the elements of its tensors."""

    owner: Stored
    values: dict[str, object]
    batch_size: Size
    names: tuple[str | None, ...] | None


@dataclass(slots=True)
class Plan:
    """A state dict taken apart, the plan of its load, and the mistakes in it.

    Attributes:
        assign: Whether the object gets the tensors themselves.
        given: The values of the state dict, by names with dots.
        levels: The metadata of the state dict, by the names of the objects.
        copies: Tensors of the object, and what is copied into them.
        changes: Objects that get other tensors, static values or another batch size.
        missing: Names that the state dict lacks.
        wrong: What does not fit, in words.
        used: Names in the state dict that belong to the object.
        unexpected: Names of static values in the state dict that the object does not have.
    """

    assign: bool
    given: dict[str, object] = field(default_factory=dict)
    levels: dict[str, Level] = field(default_factory=dict)
    copies: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    unexpected: list[str] = field(default_factory=list)


def load_state_dict(
    self: T, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False, from_flatten: bool = False
) -> T:
    """Write the tensors of a state dict into those of this object, and take over its batch size and static values.

    Where the batch size changes, the object gets new tensors instead, of its own dtypes and on its own devices.

    >>> state = Batch(torch.arange(2), batch_size=2).state_dict()
    >>> Batch(torch.zeros(2, dtype=torch.int64), batch_size=2).load_state_dict(state).tokens
    tensor([0, 1])

    Args:
        state_dict: As `state_dict` returns it, nested or flat; a tensordict's too.
        strict: Whether the names have to be the same, those of static values too where the dict has metadata of their
            object; otherwise those that are on one side only are passed over.
        assign: Whether the object gets the tensors themselves.
        from_flatten: Changes nothing: which form the dict has is seen from its values.

    Returns:
        The object.

    Raises:
        RuntimeError: names or shapes do not fit, all of which are listed, or the object is locked and would need other tensors
            or static values. Nothing is changed then.
        TypeError, ValueError: the object would get tensors that are not what its annotations say, or the metadata is none that
            an object gives.
        FrozenInstanceError: the object is frozen.
    """
    refuse_if_frozen(self, "load a state dict into")
    plan = Plan(assign)
    _take_apart(state_dict, "", plan)
    _plan(self, "", plan, Size())
    _refuse(self, plan, strict)
    for change in plan.changes:
        # Before anything is written: an error leaves the object as it was.
        refuse_if_locked(change.owner, "change the fields of")
        if change.owner._shapes:
            refuse_contents(change.owner, change.batch_size, {**contents(change.owner), **change.values})
    with torch.no_grad():
        for target, source in plan.copies:
            target.copy_(source)
    for change in plan.changes:
        _carry_out(change)
    return self


def _take_apart(state: Mapping[str, Any], prefix: str, plan: Plan) -> None:
    """Gather the values and the metadata of a state dict in `plan`; nested dicts are flattened, names joined by dots."""
    for name, level in (getattr(state, "_metadata", None) or {}).items():
        if isinstance(level, dict):
            plan.levels.setdefault((prefix + name).removesuffix("."), level)
    for name, value in state.items():
        # A dot in the name of a flat dict separates; below, it is a part of the key of a dict of tensors.
        key = prefix + dotless(name) if prefix else name
        if isinstance(value, Mapping):
            _take_apart(value, f"{key}.", plan)
        else:
            plan.given[key] = value


def _plan(self: Stored, prefix: str, plan: Plan, outer: Size) -> None:
    """Plan what an object and its nested objects get."""
    name = prefix.removesuffix(".")
    level = plan.levels.get(name, {})
    size = Size(level.get("batch_size", self._batch_size))
    if size[: len(outer)] != outer:
        plan.wrong.append(f"{name}: expected a batch size that starts with {list(outer)}, got {list(size)}")
    if "_non_tensor" in level:
        _compare_static_names(self, prefix, level, plan)
    changed: dict[str, object] = {}
    for name, value in contents(self).items():
        key = prefix + dotless(name)
        if name in self._static:
            try:
                found = _static(self, name, value, level, plan.levels.get(key, {}), size)
            except (TypeError, ValueError) as error:
                plan.wrong.append(str(error))
                continue
        elif isinstance(value, Stored):
            _plan(value, f"{key}.", plan, size)
            continue
        else:
            wanted = None if name in self._unbatched else size
            found = _value(value, key, label(self, name), plan, wanted, size != self._batch_size)
        if found is not value:
            changed[name] = found
    names = _names(self, level, size)
    if changed or size != self._batch_size or names != self._names:
        plan.changes.append(Change(self, changed, size, names))


def _compare_static_names(self: Stored, prefix: str, level: Level, plan: Plan) -> None:
    """Note the static values that only the object has, or only the state dict, whose metadata names them."""
    given = {*level.get("_non_tensor", {}), *level.get("_encoded", {})}
    plan.unexpected.extend(prefix + name for name in sorted(given.difference(self._fields)))
    for name in self._static:
        if name not in given and plan.levels.get(prefix + name, {}).get("_type") != "NonTensorData":
            plan.missing.append(prefix + name)


def _names(self: Stored, level: Level, batch_size: Size) -> tuple[str | None, ...] | None:
    """The names of dimensions that a state dict says. One without metadata says none, and leaves them."""
    if "_names" not in level:
        return self._names if batch_size == self._batch_size else None
    return dimension_names.names(self, level["_names"], batch_size)


def _value(value: object, key: str, where: str, plan: Plan, size: Size | None, resized: bool) -> object:
    """The value of a field afterwards: its own, into which something is copied, or another."""
    if isinstance(value, Tensor):
        return _tensor(value, key, where, plan, size, resized)
    if isinstance(value, dict):
        items = {k: _value(v, f"{key}.{dotless(str(k))}", where, plan, size, resized) for k, v in value.items()}
        return items if any(items[k] is not v for k, v in value.items()) else value
    if isinstance(value, list):
        found = [_value(v, f"{key}.{at}", where, plan, size, resized) for at, v in enumerate(value)]
        return found if any(new is not v for new, v in zip(found, value, strict=True)) else value
    return value


def _tensor(own: Tensor, key: str, where: str, plan: Plan, size: Size | None, resized: bool) -> Tensor:
    """The tensor that a field has afterwards: its own, into which something is copied, or a new one."""
    if key not in plan.given:
        plan.missing.append(key)
        if size is not None and own.shape[: len(size)] != size:
            plan.wrong.append(
                f"{where}: expected a tensor for {key!r}, because the batch size becomes {list(size)}, got nothing"
            )
        return own
    plan.used.add(key)
    loaded = plan.given[key]
    # Unbatched tensors, which have no `size` here, stay where the batch size changes.
    renews = plan.assign or (resized and size is not None)
    if not isinstance(loaded, Tensor):
        plan.wrong.append(f"{where}: expected a Tensor for {key!r}, got {type(loaded).__name__}")
    elif not renews and loaded.shape != own.shape:
        plan.wrong.append(f"{where}: expected shape {list(own.shape)} for {key!r}, got {list(loaded.shape)}")
    elif size is not None and loaded.shape[: len(size)] != size:
        plan.wrong.append(
            f"{where}: expected a shape that starts with {list(size)} for {key!r}, got {list(loaded.shape)}"
        )
    elif plan.assign:
        return loaded
    elif renews:
        return loaded.detach().to(own.device, own.dtype, copy=True)
    else:
        plan.copies.append((own, loaded))
    return own


def _static(self: Stored, name: str, value: object, level: Level, own: Level, batch_size: Size) -> object:
    """The static value of a field; its own where the state dict has none, or an equal one.

    Raises:
        TypeError, ValueError: it is not one that the constructor would take.
    """
    encoded, plain = level.get("_encoded", {}), level.get("_non_tensor", {})
    if name in encoded:
        found = decode(encoded[name], label(self, name), partial(enum_of, type(self), name))
    elif name in plain:
        found = plain[name]
    elif own.get("_type") == "NonTensorData":
        found = own["_non_tensor"]["data"]
    elif name not in self._per_item:
        return value
    else:
        found = value
    if isinstance(found, (Tensor, Stored)):
        raise TypeError(f"{label(self, name)}: expected a static value, got {describe(found)}")
    declared = next(one for one in type(self)._declared_as.fields if one.name == name)
    found = as_declared(self, declared, found, batch_size, None)
    return value if type(found) is type(value) and equal(found, value) else found


def _refuse(self: Stored, plan: Plan, strict: bool) -> None:
    """Raise one error with all that does not fit."""
    wrong = list(plan.wrong)
    unexpected = [name for name in plan.given if name not in plan.used] + plan.unexpected
    if strict and unexpected:
        wrong.insert(0, f"unexpected names: {listed([*map(abridged, unexpected)])}")
    if strict and plan.missing:
        wrong.insert(0, f"missing names: {listed([*map(repr, plan.missing)])}")
    if wrong:
        raise RuntimeError(f"{type(self).__name__}.load_state_dict:\n" + "\n".join(f"    {line}" for line in wrong))


def _carry_out(change: Change) -> None:
    self: Any = change.owner
    values = [change.values.get(name, value) for name, value in contents(self).items() if name not in self._static]
    static = [change.values.get(name, value) for name, value in contents(self).items() if name in self._static]
    if self._device is not None:
        values = [value.to(self._device) if isinstance(value, Tensor) else value for value in values]
    self._assign(values, static, change.batch_size, self._device)
    self._names = change.names
