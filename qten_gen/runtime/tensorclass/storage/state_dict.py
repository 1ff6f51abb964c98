"""State dicts: the tensors of an object by name, for `torch.save` and a safe `torch.load`.

What is no tensor is in the attribute `_metadata` of the dict, as in that of a module: batch size, device, and static values. All
of it is of types that `torch.load` reads by default, and in tensordict's form, so that either reads the state dicts of the other.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, overload

import torch
from torch import Tensor

from ..checks import label
from ..contents import tensor_and_nested
from .json_values import encode, enum_of

if TYPE_CHECKING:
    from ..tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")
D = TypeVar("D", bound="dict[str, Any]")

NestedState: TypeAlias = OrderedDict[str, "Tensor | NestedState"]
"""A state dict in which an object is a state dict."""

Level: TypeAlias = dict[str, Any]
"""What `_metadata` has for one object."""

_SAFE = (bool, int, float, str, bytes, torch.dtype, torch.device, torch.Size)
"""Types that a safe `torch.load` reads."""


@overload
def state_dict(
    self: TensorClass,
    destination: None = None,
    prefix: str = "",
    keep_vars: bool = False,
    flatten: Literal[False] = False,
) -> NestedState: ...
@overload
def state_dict(
    self: TensorClass, destination: None = None, prefix: str = "", keep_vars: bool = False, *, flatten: Literal[True]
) -> OrderedDict[str, Tensor]: ...
@overload
def state_dict(
    self: TensorClass, destination: D, prefix: str = "", keep_vars: bool = False, flatten: bool = False
) -> D: ...
def state_dict(
    self: TensorClass,
    destination: dict[str, Any] | None = None,
    prefix: str = "",
    keep_vars: bool = False,
    flatten: bool = False,
) -> dict[str, Any]:
    """The tensors by name, and the rest in the attribute `_metadata`. A field that is None has no name in it.

        torch.save(batch.state_dict(), "batch.pt")
        batch.load_state_dict(torch.load("batch.pt"))

    Args:
        destination: A dict that gets the entries and is returned, as in `nn.Module.state_dict`; an ordered one gets metadata too.
        prefix: Stands before every name.
        keep_vars: Whether the tensors keep their history; otherwise they are detached.
        flatten: Whether the tensors of nested objects are called `inner.q`; otherwise a nested object is a dict.

    Raises:
        TypeError: a static value is of a type that neither `torch.load` reads safely nor JSON holds.
    """
    found: dict[str, Any] = OrderedDict() if destination is None else destination
    if destination is None or hasattr(destination, "_metadata") or isinstance(destination, OrderedDict):
        cast(Any, found)._metadata = getattr(found, "_metadata", None) or OrderedDict()
    _add(self, found, prefix, keep_vars, flatten)
    return found


def _add(self: TensorClass, found: dict[str, Any], prefix: str, keep_vars: bool, flatten: bool) -> None:
    values, static = self._contents()
    metadata: dict[str, Level] | None = getattr(found, "_metadata", None)
    if metadata is not None:
        metadata[prefix.removesuffix(".")] = _level(self, values, static)
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if isinstance(value, Tensor):
            found[prefix + name] = value if keep_vars else value.detach()
        else:
            _add_value(found, prefix + name, value, keep_vars, flatten)


def _add_value(found: dict[str, Any], key: str, value: object, keep_vars: bool, flatten: bool) -> None:
    if isinstance(value, Tensor):
        found[key] = value if keep_vars else value.detach()
    elif isinstance(value, (dict, list)):
        inside = found if flatten else OrderedDict()
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            _add_value(inside, f"{key}.{dotless(str(name))}" if flatten else str(name), item, keep_vars, flatten)
        if not flatten:
            found[key] = inside
    elif value is not None and flatten:
        _add(cast("TensorClass", value), found, f"{key}.", keep_vars, True)
    elif value is not None:
        found[key] = state_dict(cast("TensorClass", value), None, "", keep_vars, flatten=False)


def dotless(key: str) -> str:
    """A key of a dict within a name whose parts are separated by dots."""
    return key.replace("%", "%25").replace(".", "%2E")


def _level(self: TensorClass, values: tuple[object, ...], static: tuple[object, ...]) -> Level:
    made: Level = {"batch_size": self._batch_size, "device": self._device, "_type": type(self).__name__}
    plain: dict[str, object] = {}
    for name, value in zip(self._static, static, strict=True):
        if is_safe(value):
            plain[name] = value
        else:
            code = encode(value, label(self, name), partial(enum_of, type(self), name))
            made.setdefault("_encoded", {})[name] = code
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        if value is None:
            plain[name] = None
    made["_non_tensor"] = plain
    if self._names is not None:
        made["_names"] = self._names
    return made


def is_safe(value: object) -> bool:
    """Whether a safe `torch.load` reads a value."""
    kind = type(value)
    if value is None or kind in _SAFE:
        return True
    if kind in (list, tuple, set):
        return all(map(is_safe, cast("list[object]", value)))
    return kind is dict and all(
        is_safe(key) and is_safe(item) for key, item in cast("dict[object, object]", value).items()
    )
