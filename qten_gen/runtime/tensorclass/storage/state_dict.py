"""State dicts: the tensors of an object by name, for `torch.save` and a safe `torch.load`.

The attribute `_metadata` of the dict has the rest, as a module's has: batch size, device, names, static values as JSON. All of it
is of types that `torch.load` reads by default.

When one is loaded, everything is compared first, and all that does not fit is in one error; then it is written.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast, overload

import torch
from torch import Size, Tensor

from ....common.state_names import listed
from ..core import dimension_names
from ..core.contents import contents, tensor_and_nested
from ..core.error_text import abridged, label
from ..core.locks import refuse_if_frozen, refuse_if_locked
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from ..fields.as_declared import as_declared
from ..fields.static import equal
from .json_values import decode, encode

T = TypeVar("T", bound=Stored)
D = TypeVar("D", bound="dict[str, Any]")

NestedState: TypeAlias = OrderedDict[str, "Tensor | NestedState"]
"""A state dict in which an object is a state dict."""

Level: TypeAlias = dict[str, Any]
"""The entry of `_metadata` for one object."""


@overload
def state_dict(
    self: Stored,
    destination: None = None,
    prefix: str = "",
    keep_vars: bool = False,
    flatten: Literal[False] = False,
) -> NestedState: ...
@overload
def state_dict(
    self: Stored, destination: None = None, prefix: str = "", keep_vars: bool = False, *, flatten: Literal[True]
) -> OrderedDict[str, Tensor]: ...
@overload
def state_dict(self: Stored, destination: D, prefix: str = "", keep_vars: bool = False, flatten: bool = False) -> D: ...
def state_dict(
    self: Stored,
    destination: dict[str, Any] | None = None,
    prefix: str = "",
    keep_vars: bool = False,
    flatten: bool = False,
) -> dict[str, Any]:
    """The tensors by name, and the rest in the attribute `_metadata`. A field that is None has no name in it.

    >>> dict(Batch(torch.arange(2), batch_size=2).state_dict())
    {'tokens': tensor([0, 1])}

    Args:
        destination: A dict that gets the entries and is returned, as in `nn.Module.state_dict`; an ordered one gets metadata too.
        prefix: Stands before every name.
        keep_vars: Whether the tensors keep their history; otherwise they are detached.
        flatten: Whether the tensors of nested objects are called `inner.q`; otherwise a nested object is a dict.

    Raises:
        TypeError: a static value is of a type that neither `torch.load` reads safely nor JSON holds.
    """
    found: Any = OrderedDict() if destination is None else destination
    # A plain dict has no place for metadata.
    if isinstance(found, OrderedDict) and not hasattr(found, "_metadata"):
        cast(Any, found)._metadata = OrderedDict()
    _add(self, found, getattr(found, "_metadata", None), prefix, keep_vars, flatten)
    return cast("dict[str, Any]", found)


def _add(
    self: Stored,
    found: dict[str, Any],
    metadata: dict[str, Level] | None,
    prefix: str,
    keep_vars: bool,
    flatten: bool,
) -> None:
    """Add an object: its tensors to `found`, all else to `metadata`."""
    values, static = self._field_values()
    if metadata is not None:
        codes = {name: encode(value, label(self, name)) for name, value in zip(self._static, static, strict=True)}
        level: Level = {"batch_size": self._batch_size, "device": self._device, "names": self._names, "static": codes}
        metadata[prefix.removesuffix(".")] = level
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if value is not None:
            _add_value(found, metadata, prefix + name, value, keep_vars, flatten)


def _add_value(
    found: dict[str, Any],
    metadata: dict[str, Level] | None,
    key: str,
    value: object,
    keep_vars: bool,
    flatten: bool,
) -> None:
    """Add what a field holds under `key`: a tensor, several in a dict or list, or a nested object."""
    if isinstance(value, Tensor):
        found[key] = value if keep_vars else value.detach()
    elif isinstance(value, (dict, list)):
        inside = found if flatten else OrderedDict()
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            inner = f"{key}.{dotless(str(name))}" if flatten else str(name)
            _add_value(inside, metadata, inner, item, keep_vars, flatten)
        if not flatten:
            found[key] = inside
    elif isinstance(value, Stored) and flatten:
        _add(value, found, metadata, f"{key}.", keep_vars, True)
    elif isinstance(value, Stored):
        found[key] = state_dict(value, None, "", keep_vars, flatten=False)


def dotless(key: str) -> str:
    """A key of a dict within a name whose parts are separated by dots."""
    return key.replace("%", "%25").replace(".", "%2E")


def load_state_dict(
    self: T, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False, from_flatten: bool = False
) -> T:
    """Write the tensors of a state dict into those of this object, and take over its static values and names.

    >>> state = Batch(torch.arange(2), batch_size=2).state_dict()
    >>> Batch(torch.zeros(2, dtype=torch.int64), batch_size=2).load_state_dict(state).tokens
    tensor([0, 1])

    Args:
        state_dict: As `state_dict` returns it, nested or flat.
        strict: Whether the names have to be the same; otherwise names on one side only are passed over.
        assign: Whether the object gets the tensors themselves, and with them another batch size.
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
    copies: list[tuple[Tensor, Tensor]] = []
    changes: list[_Change] = []
    if assign or not _fits(self, state_dict, copies):
        plan = _Plan(assign)
        plan.take_apart(state_dict, "")
        plan.add(self, "", Size())
        plan.refuse(self, strict)
        copies, changes = plan.copies, plan.changes
    with torch.no_grad():
        for target, source in copies:
            target.copy_(source)
    for change in changes:
        change.carry_out()
    return self


def _fits(self: Stored, state: Mapping[str, Any], copies: list[tuple[Tensor, Tensor]]) -> bool:
    """True if nothing but elements of tensors changes, and every name is on both sides; `copies` gets the tensors."""
    values, static = self._field_values()
    if self.__structure__:
        return False
    used = 0
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if value is None:
            continue
        given = state.get(name)
        if isinstance(value, Tensor) and isinstance(given, Tensor) and value.shape == given.shape:
            copies.append((value, given))
        elif not (isinstance(value, Stored) and isinstance(given, Mapping) and _fits(value, given, copies)):
            return False
        used += 1
    level = (getattr(state, "_metadata", None) or {}).get("")
    if used != len(state) or level is None:
        return used == len(state)
    same = dict(zip(self._static, static, strict=True))
    given = level.get("static", {})
    is_same = given.keys() == same.keys() and all(code is same[name] for name, code in given.items())
    return is_same and level.get("batch_size") == self._batch_size and level.get("names") == self._names


class _Change(NamedTuple):
    """The new content of an object where more changes than the elements of its tensors."""

    owner: Stored
    values: dict[str, object]
    batch_size: Size
    names: tuple[str | None, ...] | None

    def check(self) -> None:
        """Refuse what cannot be carried out. Before anything is written: an error leaves the object as it was."""
        refuse_if_locked(self.owner, "change the fields of")
        if self.owner._shapes:
            refuse_contents(self.owner, self.batch_size, self.values)

    def carry_out(self) -> None:
        owner = self.owner
        carried = [self.values[name] for name in tensor_and_nested(owner)]
        moved = [
            value.to(owner._device) if owner._device is not None and isinstance(value, Tensor) else value
            for value in carried
        ]
        owner._assign(moved, [self.values[name] for name in owner._static], self.batch_size, owner._device)
        owner._names = self.names


class _Plan:
    """A state dict taken apart, the plan of its load, and the mistakes in it.

    Attributes:
        given: The values of the state dict, by names with dots.
        levels: The metadata of the state dict, by the names of the objects.
        copies: Tensors of the object, and what is copied into them.
        changes: What else changes, by object.
    """

    def __init__(self, assign: bool) -> None:
        self.assign = assign
        self.given: dict[str, Any] = {}
        self.levels: dict[str, Level] = {}
        self.copies: list[tuple[Tensor, Tensor]] = []
        self.changes: list[_Change] = []
        self.used: set[str] = set()
        self.missing: list[str] = []
        self.wrong: list[str] = []

    def take_apart(self, state: Mapping[str, Any], prefix: str) -> None:
        """Note the values and the metadata of a state dict, and of those in it."""
        for name, level in (getattr(state, "_metadata", None) or {}).items():
            self.levels[(prefix + name).removesuffix(".")] = level
        for name, value in state.items():
            key = prefix + dotless(name) if prefix else name
            if isinstance(value, Mapping):
                self.take_apart(value, f"{key}.")
            else:
                self.given[key] = value

    def add(self, owner: Stored, prefix: str, outer: Size) -> None:
        """Plan what an object and its nested objects get."""
        level = self.levels.get(prefix.removesuffix("."), {})
        size = Size(level.get("batch_size", owner._batch_size))
        if size[: len(outer)] != outer:
            self.wrong.append(f"{prefix[:-1]}: expected a batch size that starts with {list(outer)}, got {list(size)}")
        if size != owner._batch_size and not self.assign:
            advice = "pass assign=True to take over the tensors themselves"
            where = f"{prefix[:-1]}: " if prefix else ""
            self.wrong.append(f"{where}expected batch size {list(owner._batch_size)}, got {list(size)}; {advice}")
        values: dict[str, Any] = contents(owner)
        codes = level.get("static", {})
        found = dict(values)
        for name, value in values.items():
            if isinstance(value, Stored) and name in owner._nested:
                self.add(value, f"{prefix}{name}.", Size() if name in owner._unbatched else size)
            elif name in owner.__structure__ and not self.assign and prefix + name in self.given:
                # Nothing is copied into lengths, which objects share.
                self.used.add(prefix + name)
                lengths: Tensor = values[name]
                if self.given[prefix + name].tolist() != lengths.tolist():
                    advice = "pass assign=True to take over the tensors themselves"
                    self.wrong.append(f"{label(owner, name)}: expected items of the same lengths; {advice}")
            elif name not in owner._static:
                inside = None if name in owner._unbatched else size
                found[name] = self._value(value, prefix + name, label(owner, name), inside)
            elif name in codes:
                try:
                    found[name] = _static(owner, name, value, codes[name], size)
                except (TypeError, ValueError) as error:
                    self.wrong.append(str(error))
        names = owner._names if size == owner._batch_size else None
        if "names" in level:
            names = dimension_names.names(owner, level["names"], size)
        same = all(found[name] is value for name, value in values.items())
        if not same or size != owner._batch_size or names != owner._names:
            self.changes.append(_Change(owner, found, size, names))

    def _value(self, value: object, key: str, where: str, size: Size | None) -> object:
        """The value of a field afterwards: its own, into which something is copied, or another."""
        if isinstance(value, Tensor):
            return self._tensor(value, key, where, size)
        if not isinstance(value, (dict, list)):
            return value
        items = list(value.items() if isinstance(value, dict) else enumerate(value))
        found = {at: self._value(item, f"{key}.{dotless(str(at))}", where, size) for at, item in items}
        if all(found[at] is item for at, item in items):
            return value
        return found if isinstance(value, dict) else [*found.values()]

    def _tensor(self, own: Tensor, key: str, where: str, size: Size | None) -> Tensor:
        """The tensor that a field has afterwards: its own, into which something is copied, or the given one."""
        if key not in self.given:
            self.missing.append(key)
            if size is not None and own.shape[: len(size)] != size:
                self.wrong.append(f"{where}: expected a tensor for {key!r} of the batch size {list(size)}, got nothing")
            return own
        self.used.add(key)
        loaded = self.given[key]
        if not isinstance(loaded, Tensor):
            self.wrong.append(f"{where}: expected a Tensor for {key!r}, got {type(loaded).__name__}")
        elif self.assign and size is not None and loaded.shape[: len(size)] != size:
            starts = f"expected a shape that starts with {list(size)} for {key!r}, got {list(loaded.shape)}"
            self.wrong.append(f"{where}: {starts}")
        elif self.assign:
            return loaded
        elif loaded.shape != own.shape:
            self.wrong.append(f"{where}: expected shape {list(own.shape)} for {key!r}, got {list(loaded.shape)}")
        else:
            self.copies.append((own, loaded))
        return own

    def refuse(self, owner: Stored, strict: bool) -> None:
        """Raise one error with all that does not fit."""
        unexpected = [name for name in self.given if name not in self.used]
        if strict and unexpected:
            self.wrong.insert(0, f"unexpected names: {listed([*map(abridged, unexpected)])}")
        if strict and self.missing:
            self.wrong.insert(0, f"missing names: {listed([*map(repr, self.missing)])}")
        if self.wrong:
            lines = "\n".join(f"    {line}" for line in self.wrong)
            raise RuntimeError(f"{type(owner).__name__}.load_state_dict:\n{lines}")
        for change in self.changes:
            change.check()


def _static(owner: Stored, name: str, value: object, code: Any, batch_size: Size) -> object:
    """The static value that the metadata has for a field; the field's own where that equals it.

    Raises:
        TypeError, ValueError: it is not one that the constructor would take.
    """
    declared = next(one for one in type(owner)._declared_as.fields if one.name == name)
    found = decode(code, label(owner, name))
    found = as_declared(owner, declared, found, batch_size, None)
    return value if type(found) is type(value) and equal(found, value) else found
