"""State dicts: the tensors of an object by name, for `torch.save` and a safe `torch.load`.

The attribute `_metadata` of the dict has the rest, as a module's has: batch size, device, names, static values as JSON. All of it
is of types that `torch.load` reads by default.

When one is loaded, everything is compared first, and all that does not fit is in one error; then it is written.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

import torch
from torch import Size, Tensor

from ....common.name_patterns import listed
from ..core import dimension_names
from ..core.contents import contents, tensor_and_nested
from ..core.error_text import abridged, label
from ..core.locks import refuse_if_frozen, refuse_if_locked
from ..core.stored import Stored
from ..fields.as_declared import fit_saved
from ..fields.same_values import equal
from .json_values import decode, encode
from .loading import filled
from .memory_map import become

T = TypeVar("T", bound=Stored)
D = TypeVar("D", bound="dict[str, Any]")

NestedState: TypeAlias = OrderedDict[str, "Tensor | NestedState"]
"""A state dict in which an object is a state dict."""

Level: TypeAlias = dict[str, Any]
"""The entry of `_metadata` for one object."""

_ADVICE = "pass assign=True to take over the tensors themselves"


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
    state = _nested(self, keep_vars)
    if destination is None and not prefix and not flatten:
        return state
    found: Any = OrderedDict() if destination is None else destination
    # A plain dict has no place for metadata.
    if issubclass(type(found), OrderedDict) and not hasattr(found, "_metadata"):
        found._metadata = OrderedDict()
    entries, levels = _flat(state) if flatten else (state, _levels(state))
    found.update({prefix + name: value for name, value in entries.items()})
    if hasattr(found, "_metadata"):
        found._metadata.update({(prefix + name).removesuffix("."): level for name, level in levels.items()})
    return cast("dict[str, Any]", found)


def _nested(self: Stored, keep_vars: bool) -> NestedState:
    """The tensors of an object by name, what is not a tensor in the metadata."""
    values, static = self._field_values()
    codes = {name: encode(value, label(self, name)) for name, value in zip(self._static, static, strict=True)}
    found: NestedState = OrderedDict()
    level: Level = {"batch_size": self._batch_size, "device": self._device, "names": self._names, "static": codes}
    found._metadata = OrderedDict({"": level})  # type: ignore[attr-defined] # as in the state dict of a module
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if value is not None:
            found[name] = value.detach() if isinstance(value, Tensor) and not keep_vars else _entry(value, keep_vars)
    return found


def _entry(value: object, keep_vars: bool) -> Tensor | NestedState:
    """The entry of what a field holds: a tensor, several in a dict or list, or a nested object."""
    if isinstance(value, Tensor):
        return value if keep_vars else value.detach()
    if isinstance(value, Stored):
        return _nested(value, keep_vars)
    items = value.items() if isinstance(value, dict) else enumerate(cast("list[Tensor]", value))
    return OrderedDict((str(name), _entry(item, keep_vars)) for name, item in items)


def _flat(state: Mapping[str, Any], prefix: str = "") -> tuple[dict[str, Any], dict[str, Level]]:
    """The entries of a state dict by names with dots, and the metadata of objects by theirs."""
    levels = {f"{prefix}{name}".removesuffix("."): level for name, level in _levels(state).items()}
    found: dict[str, Any] = {}
    for name, value in state.items():
        key = prefix + dotless(name) if prefix else name
        if isinstance(value, Mapping):
            inside = _flat(value, f"{key}.")
            found |= inside[0]
            levels |= inside[1]
        else:
            found[key] = value
    return found, levels


def dotless(key: str) -> str:
    """A key of a dict within a name whose parts are separated by dots."""
    return key.replace("%", "%25").replace(".", "%2E")


def load_state_dict(self: T, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> T:
    """Copy the tensors of a state dict into the tensors of this object, and take over its static values and names.

    >>> state = Batch(torch.arange(2), batch_size=2).state_dict()
    >>> Batch(torch.zeros(2, dtype=torch.int64), batch_size=2).load_state_dict(state).tokens
    tensor([0, 1])

    Args:
        state_dict: As `state_dict` returns it, nested or flat.
        strict: Whether the names have to be the same; otherwise names on one side only are passed over.
        assign: Whether the object gets the tensors themselves, and with them another batch size.

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
    made = self
    if assign or not _fits(self, state_dict, copies):
        load = _Load(state_dict, assign)
        made = load.merged(self, "")
        load.refuse(self, strict)
        copies = load.copies
    with torch.no_grad():
        for target, source in copies:
            target.copy_(source)
    return self if made is self else become(self, made)


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
        if isinstance(value, Tensor) and isinstance(given, Tensor) and not (given.is_nested or given.is_meta):
            plain = given.layout is value.layout is torch.strided and given.dtype is value.dtype
            if not plain or not value.is_contiguous() or given.shape != value.shape:
                return False
            copies.append((value, given))
        elif not (isinstance(value, Stored) and isinstance(given, Mapping) and _fits(value, given, copies)):
            return False
        used += 1
    levels: object = getattr(state, "_metadata", None)
    if used != len(state) or not levels:
        return used == len(state)
    level = levels.get("") if isinstance(levels, dict) else None
    if not isinstance(level, dict) or level.get("batch_size") != self._batch_size or level.get("names") != self._names:
        return False
    same, codes = dict(zip(self._static, static, strict=True)), level.get("static")
    return isinstance(codes, dict) and codes.keys() == same.keys() and all(codes[name] is same[name] for name in same)


def _levels(state: Mapping[str, Any]) -> dict[str, Level]:
    """The metadata of a state dict.

    Raises:
        TypeError: it is none that an object or a module gives.
    """
    found: object = getattr(state, "_metadata", None) or {}
    levels = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(level, dict) and isinstance(level.get("static", {}), dict) for level in levels):
        raise TypeError(f"expected _metadata as state_dict() writes it, got {str(found)[:80]}")
    return cast("dict[str, Level]", found)


def _obstacle(own: Tensor, given: Tensor, key: str) -> str:
    """The reason why a tensor cannot be copied into another one, known before anything is copied; empty without one."""
    if given.is_nested or given.layout is not own.layout or given.is_quantized != own.is_quantized:
        return f"expected a tensor of layout {own.layout} for {key!r}, got a nested, quantised or {given.layout} one"
    if given.shape != own.shape:
        return f"expected shape {list(own.shape)} for {key!r}, got {list(given.shape)}"
    if given.is_meta and not own.is_meta:
        return f"expected values for {key!r}, got a tensor on the meta device"
    if given.is_complex() and not own.is_complex():
        return f"expected {own.dtype} for {key!r}, got {given.dtype}, which has imaginary parts"
    if any(step == 0 and size > 1 for step, size in zip(own.stride(), own.shape, strict=True)):
        return f"expected a tensor to copy {key!r} into, has an expanded one, whose items share memory; {_ADVICE}"
    return ""


class _Load:
    """A state dict taken apart, what is copied into the tensors of an object, which objects change beside, and the mistakes."""

    def __init__(self, state: Mapping[str, Any], assign: bool) -> None:
        self.assign = assign
        self.given, self.levels = _flat(state)
        self.copies: list[tuple[Tensor, Tensor]] = []
        self.changed: list[Stored] = []
        self.used: set[str] = set()
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.wrong: list[str] = []

    def merged(self, owner: T, prefix: str) -> T:
        """What an object becomes: another one where more changes than the elements of its tensors."""
        level = self.levels.get(prefix.removesuffix("."), {})
        size, codes, values = Size(level.get("batch_size", owner._batch_size)), level.get("static", {}), contents(owner)
        self.unexpected += [prefix + name for name in codes if name not in owner._static]
        names = owner._names if size == owner._batch_size else None
        if "names" in level:
            names = dimension_names.names(owner, level["names"], size)
        found: dict[str, object] = {}
        try:
            if size != owner._batch_size and not self.assign:
                where = f"{prefix[:-1]}: " if prefix else ""
                raise ValueError(f"{where}expected batch size {list(owner._batch_size)}, got {list(size)}; {_ADVICE}")
            for name, value in values.items():
                if isinstance(value, Stored) and name in owner._nested:
                    found[name] = self.merged(value, f"{prefix}{name}.")
                elif name in owner._static:
                    found[name] = decode(codes[name], label(owner, name)) if name in codes else value
                else:
                    found[name] = self._tensors(owner, name, value, prefix + name)
            if not self.wrong:
                fit_saved(owner, found, size, owner._device)
        except (TypeError, ValueError) as error:
            self.wrong.append(str(error))
            self.used |= self.given.keys()  # nobody knows whether the others are unexpected
            return owner
        for name in owner._static:
            if type(found[name]) is type(values[name]) and equal(found[name], values[name]):
                found[name] = values[name]
        if names == owner._names and size == owner._batch_size and all(found[name] is values[name] for name in values):
            return owner
        self.changed.append(owner)
        return filled(object.__new__(type(owner)), found, size, owner._device, names)

    def _tensors(self, owner: Stored, name: str, own: object, key: str) -> object:
        """The tensors of a field afterwards: its own, into which the given ones are copied, or the given ones."""
        if isinstance(own, (dict, list)):
            items = list(own.items() if isinstance(own, dict) else enumerate(own))
            found = {at: self._tensors(owner, name, item, f"{key}.{dotless(str(at))}") for at, item in items}
            if all(found[at] is item for at, item in items):
                return own
            return found if isinstance(own, dict) else [*found.values()]
        if not isinstance(own, Tensor):
            return own
        if key not in self.given:
            self.missing.append(key)
            return own
        self.used.add(key)
        loaded, where = self.given[key], label(owner, name)
        if not isinstance(loaded, Tensor):
            self.wrong.append(f"{where}: expected a Tensor for {key!r}, got {type(loaded).__name__}")
        elif self.assign:
            return loaded
        elif name in owner.__structure__ and not own.is_meta:  # objects share lengths, which nothing is copied into
            if (new := loaded.tolist()) != (old := own.tolist()):
                self.wrong.append(
                    f"{key}: expected items of the lengths {abridged(old)}, got {abridged(new)}; {_ADVICE}"
                )
        elif reason := _obstacle(own, loaded, key):
            self.wrong.append(f"{where}: {reason}")
        else:
            self.copies.append((own, loaded))
        return own

    def refuse(self, owner: Stored, strict: bool) -> None:
        """Raise one error with all that does not fit."""
        unexpected = [*(name for name in self.given if name not in self.used), *self.unexpected]
        if strict and unexpected:
            self.wrong.insert(0, f"unexpected names: {listed([*map(abridged, unexpected)])}")
        if strict and self.missing:
            self.wrong.insert(0, f"missing names: {listed([*map(repr, self.missing)])}")
        if self.wrong:
            lines = "\n".join(f"    {line}" for line in self.wrong)
            raise RuntimeError(f"{type(owner).__name__}.load_state_dict:\n{lines}")
        for changed in self.changed:
            refuse_if_locked(changed, "change the fields of")
