"""Loading any state dict: everything is compared first, and all that does not fit is in one error; then it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Size, Tensor

from ..core import names as dimension_names
from ..core.contents import contents
from ..core.errors import label
from ..core.locks import refuse_if_locked
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from ..fields.per_item import per_item
from ..fields.static import equal
from .json_values import decode, enum_of
from .state_dict import Level, copy_all, dotless


@dataclass(frozen=True, slots=True)
class Incoming:
    """A state dict taken apart: values by names with dots, metadata by the names of the objects."""

    values: dict[str, object] = field(default_factory=dict)
    levels: dict[str, Level] = field(default_factory=dict)
    assign: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What an object gets where more changes than the elements of its tensors."""

    owner: Stored
    values: dict[str, object]
    batch_size: Size
    names: tuple[str | None, ...] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What loading will do, and what is wrong.

    Attributes:
        copies: Tensors of the object, and what is copied into them.
        changes: Objects that get other tensors, static values or another batch size.
        missing: Names that the state dict lacks.
        wrong: What does not fit, in words.
        unexpected: Static values in the metadata for which the object has no field.
        used: Names in the state dict that belong to the object.
    """

    copies: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)


def load_planned(self: Stored, state_dict: Mapping[str, Any], *, strict: bool, assign: bool) -> None:
    """Plan what the object and those that it holds get, and carry it out; see `load_state_dict`, also for what it raises."""
    incoming = Incoming(assign=assign)
    _take_apart(state_dict, "", incoming)
    plan = Plan()
    _plan(self, "", incoming, plan, Size())
    unexpected = [*(name for name in incoming.values if name not in plan.used), *plan.unexpected]
    _refuse(self, plan, unexpected, strict)
    for change in plan.changes:
        refuse_if_locked(change.owner, "change the fields of")
        if change.owner._shapes:
            refuse_contents(change.owner, change.batch_size, {**contents(change.owner), **change.values})
    copy_all(plan.copies)
    for change in plan.changes:
        _carry_out(change)


def _take_apart(state: Mapping[str, Any], prefix: str, incoming: Incoming) -> None:
    """Gather the values and the metadata of a state dict in `incoming`; nested dicts are flattened, names joined by dots."""
    for name, level in (getattr(state, "_metadata", None) or {}).items():
        if isinstance(level, dict):
            incoming.levels.setdefault((prefix + name).removesuffix("."), level)
    for name, value in state.items():
        # A dot in the name of a flat dict separates; below, it is a part of the key of a dict of tensors.
        key = prefix + dotless(name) if prefix else name
        if isinstance(value, Mapping):
            _take_apart(value, f"{key}.", incoming)
        else:
            incoming.values[key] = value


def _plan(self: Stored, prefix: str, incoming: Incoming, plan: Plan, outer: Size) -> None:
    """Plan what one object gets, and those that it holds."""
    level = incoming.levels.get(prefix.removesuffix("."), {})
    size = _batch_size(self, level, plan)
    if size[: len(outer)] != outer:
        name = prefix.removesuffix(".")
        plan.wrong.append(f"{name}: expected a batch size that starts with {list(outer)}, got {list(size)}")
    changed: dict[str, object] = {}
    _compare_static(self, prefix, level, incoming, plan)
    for name, value in contents(self).items():
        key = prefix + name
        if name in self._static:
            found = _static(self, name, value, level, incoming.levels.get(key, {}))
            if name in self._per_item and found is not None:
                try:
                    found = per_item(self, name, found, size)
                except (TypeError, ValueError) as error:
                    plan.wrong.append(str(error))
        elif isinstance(value, Stored):
            _plan(value, f"{key}.", incoming, plan, size)
            continue
        else:
            wanted = None if name in self._unbatched else size
            found = _value(value, key, label(self, name), incoming, plan, wanted, size != self._batch_size)
        if found is not value:
            changed[name] = found
    names = _names(self, level, size, plan)
    if changed or size != self._batch_size or names != self._names:
        plan.changes.append(Change(self, changed, size, names))


def _batch_size(self: Stored, level: Level, plan: Plan) -> Size:
    """The batch size that a state dict says; the object's own where it says none."""
    try:
        return Size(level.get("batch_size", self._batch_size))
    except TypeError:
        plan.wrong.append(f"{type(self).__name__}: expected a batch size, got {level['batch_size']!r}")
        return self._batch_size


def _names(self: Stored, level: Level, batch_size: Size, plan: Plan) -> tuple[str | None, ...] | None:
    """The names of dimensions that a state dict says. One without metadata says none, and leaves them."""
    if "_names" not in level:
        return self._names if batch_size == self._batch_size else None
    try:
        return dimension_names.names(self, level["_names"], batch_size)
    except (TypeError, ValueError) as error:
        plan.wrong.append(str(error))
        return None


def _value(
    value: object, key: str, where: str, incoming: Incoming, plan: Plan, size: Size | None, resized: bool
) -> object:
    """What a field has afterwards: its own value, into which something is copied, or another."""
    if isinstance(value, Tensor):
        return _tensor(value, key, where, incoming, plan, size, resized)
    if isinstance(value, dict):
        items = {
            k: _value(v, f"{key}.{dotless(str(k))}", where, incoming, plan, size, resized) for k, v in value.items()
        }
        return items if any(items[k] is not v for k, v in value.items()) else value
    if isinstance(value, list):
        found = [_value(v, f"{key}.{at}", where, incoming, plan, size, resized) for at, v in enumerate(value)]
        return found if any(new is not v for new, v in zip(found, value, strict=True)) else value
    return value


def _tensor(
    own: Tensor, key: str, where: str, incoming: Incoming, plan: Plan, size: Size | None, resized: bool
) -> Tensor:
    """The tensor that a field has afterwards: its own, into which something is copied, or a new one."""
    if key not in incoming.values:
        plan.missing.append(key)
        return own
    plan.used.add(key)
    loaded = incoming.values[key]
    renews = incoming.assign or (resized and size is not None)
    if not isinstance(loaded, Tensor):
        plan.wrong.append(f"{where}: expected a Tensor for {key!r}, got {type(loaded).__name__}")
    elif not renews and loaded.shape != own.shape:
        plan.wrong.append(f"{where}: expected shape {list(own.shape)} for {key!r}, got {list(loaded.shape)}")
    elif size is not None and loaded.shape[: len(size)] != size:
        plan.wrong.append(
            f"{where}: expected a shape that starts with {list(size)} for {key!r}, got {list(loaded.shape)}"
        )
    elif incoming.assign:
        return loaded
    elif renews:
        return loaded.detach().to(own.device, own.dtype, copy=True)
    else:
        plan.copies.append((own, loaded))
    return own


def _static(self: Stored, name: str, value: object, level: Level, own: Level) -> object:
    """The static value of a field; its own where the state dict has none, or an equal one."""
    encoded, plain = level.get("_encoded", {}), level.get("_non_tensor", {})
    if name in encoded:
        found = decode(encoded[name], label(self, name), partial(enum_of, type(self), name))
    elif name in plain:
        found = plain[name]
    elif own.get("_type") == "NonTensorData":
        found = own["_non_tensor"]["data"]
    else:
        return value
    return value if type(found) is type(value) and equal(found, value) else found


def _compare_static(self: Stored, prefix: str, level: Level, incoming: Incoming, plan: Plan) -> None:
    """Note the static fields that the metadata lacks, and those in excess. A dict without metadata has none to compare."""
    if "_non_tensor" not in level:
        return
    given = {**level["_non_tensor"], **level.get("_encoded", {})}
    missing = [name for name in self._static if name not in given and prefix + name not in incoming.levels]
    plan.missing.extend(prefix + name for name in missing)
    plan.unexpected.extend(prefix + name for name in given if name not in self._fields)


def _refuse(self: Stored, plan: Plan, unexpected: list[str], strict: bool) -> None:
    """Raise one error with all that does not fit."""
    wrong = list(plan.wrong)
    if strict and unexpected:
        wrong.insert(0, f"unexpected names: {', '.join(map(repr, unexpected))}")
    if strict and plan.missing:
        wrong.insert(0, f"missing names: {', '.join(map(repr, plan.missing))}")
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
