"""State dicts: the tensors of an object by name, for `torch.save` and a safe `torch.load`.

The attribute `_metadata` of the dict has the rest, as that of a module does: batch size, device, and static values. All of it is
of types that `torch.load` reads by default, and in tensordict's form, so that either reads the state dicts of the other.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

import torch
from torch import Tensor

from ..core.contents import tensor_and_nested
from ..core.error_text import label
from ..core.stored import Stored
from .json_values import encode, enum_of

T = TypeVar("T", bound=Stored)
D = TypeVar("D", bound="dict[str, Any]")

NestedState: TypeAlias = OrderedDict[str, "Tensor | NestedState"]
"""A state dict in which an object is a state dict."""

Level: TypeAlias = dict[str, Any]
"""The entry of `_metadata` for one object."""

_SAFE = (bool, int, float, str, bytes, torch.dtype, torch.device, torch.Size)
"""Types that a safe `torch.load` reads."""


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
    if destination is None:
        found: Any = OrderedDict()
        metadata: dict[str, Level] | None = OrderedDict()
        found._metadata = metadata
    else:
        found, metadata = destination, _metadata_of(destination)
    _add(self, found, metadata, prefix, keep_vars, flatten)
    return cast("dict[str, Any]", found)


def _metadata_of(found: Any) -> dict[str, Level] | None:
    """The metadata of a state dict, for which a plain dict has no place."""
    if not hasattr(found, "_metadata") and isinstance(found, OrderedDict):
        cast(Any, found)._metadata = OrderedDict()
    return cast("dict[str, Level] | None", getattr(found, "_metadata", None))


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
    plain: dict[str, object] = {}
    if metadata is not None:
        level: Level = {"batch_size": self._batch_size, "device": self._device, "_type": type(self).__name__}
        if static:
            _add_static(self, static, plain, level)
        level["_non_tensor"] = plain
        if self._names is not None:
            level["_names"] = self._names
        metadata[prefix.removesuffix(".")] = level
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        key = prefix + dotless(name) if prefix else name
        if value is None:
            plain[name] = None
        else:
            _add_value(found, metadata, key, value, keep_vars, flatten)


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


def _add_static(self: Stored, static: tuple[object, ...], plain: dict[str, object], level: Level) -> None:
    """Add static values to those that a safe `torch.load` reads, or encoded to the level."""
    for name, value in zip(self._static, static, strict=True):
        if is_safe(value):
            plain[name] = value
        else:
            code = encode(value, label(self, name), partial(enum_of, type(self), name))
            level.setdefault("_encoded", {})[name] = code


def is_safe(value: object) -> bool:
    """Whether a safe `torch.load` reads a value."""
    kind = type(value)
    # The very type: a safe load refuses what derives from it.
    if value is None or kind in _SAFE:
        return True
    if kind in (list, tuple, set):
        return all(map(is_safe, cast("list[object]", value)))
    return kind is dict and all(
        is_safe(key) and is_safe(item) for key, item in cast("dict[object, object]", value).items()
    )
