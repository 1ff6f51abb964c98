"""Static fields: Python values that are the same for a whole batch, and therefore for all objects that are combined."""

from __future__ import annotations

import dataclasses
import sys
from collections import deque
from collections.abc import Collection
from typing import Any, Final, cast

import torch
from torch import Tensor

from ..core import late
from ..core.error_text import describe, label
from ..core.stored import Stored

PLAIN: Final = frozenset({type(None), bool, int, float, complex, str, bytes, torch.device, torch.dtype, torch.Size})
"""Types whose values hold no tensors, and which `==` compares. Generated code stores these without a call."""

_DEPTH: Final = 4
"""How many containers in one another are looked into for tensors."""


def static(self: Stored, name: str, value: object) -> Any:  # of the type that the annotation says
    """The value to store in a static field: any, but for tensors. A `NonTensorData` of tensordict gives what it holds.

    Raises:
        TypeError: the value is, or contains, a tensor or a batched object, which no operation would reach.
        ValueError: it is a stack of tensordict whose values differ.
    """
    kind = type(value)
    if kind in PLAIN or (kind in (list, tuple) and PLAIN.issuperset(map(type, cast("list[object]", value)))):
        return value
    found = unwrapped(label(self, name), value)
    carried = _carried(found, _DEPTH)
    if carried is None:
        return found
    inside = "" if carried is found else f" that contains {describe(carried)}"
    raise TypeError(
        f"{label(self, name)}: expected one value for the whole batch, without tensors, got {describe(found)}{inside}; the field "
        "is static by its annotation, and would not be indexed, moved or stacked. Annotate it with what it holds: Tensor, "
        "dict[str, Tensor], list[Tensor], Unbatched[Tensor], PerItem, or a TensorClass"
    )


def _carried(value: object, depth: int) -> object | None:
    """The first tensor or batched object in a value: the value itself, or what a container holds; None without any."""
    if isinstance(value, Tensor) or _has_batch_size(value):
        return value
    parts = _parts(value)
    if parts is None:
        return None
    if depth == 0 or PLAIN.issuperset(map(type, parts)):
        return None
    return next((found for part in parts if (found := _carried(part, depth - 1)) is not None), None)


def _parts(value: object) -> Collection[object] | None:
    """The items of a container of Python or of an array of objects, or the values of a dataclass; None for any other object."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    if getattr(getattr(value, "dtype", None), "hasobject", False):
        return cast("list[object]", cast(Any, value).ravel().tolist())
    return None


def _has_batch_size(value: object) -> bool:
    """True if a value is batched by itself: a TensorClass, a PerItem, a TensorDict."""
    return hasattr(type(value), "batch_size") and isinstance(getattr(value, "batch_size", None), torch.Size)


def unwrapped(where: str, value: object) -> object:
    """The content of a `NonTensorData` of tensordict, or of a `NonTensorStack` of equal ones; any other value as it is.

    Raises:
        ValueError: it is a `NonTensorStack` whose values differ.
    """
    library = sys.modules.get("tensordict")
    if library is None:
        return value
    if isinstance(value, getattr(library, "NonTensorStack", ())):
        values = [unwrapped(where, part) for part in cast(Any, value).tensordicts]
        if values and all(late.same_values.equal(values[0], other) for other in values):
            return values[0]
        raise ValueError(
            f"{where}: expected one value, got a NonTensorStack; a PerItem field has a value for each item"
        )
    return cast(Any, value).data if isinstance(value, getattr(library, "NonTensorData", ())) else value


_CASTS: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "complex": complex, "str": str}


def cast_static(self: Stored, name: str, to: str, value: object) -> Any:  # of the type that `to` names
    """Convert the value of a static field of an `autocast` class to `int`, `float`, `bool`, `complex` or `str`."""
    kind = _CASTS[to]
    if type(value) is kind:
        return value
    value = unwrapped(label(self, name), value)
    try:
        found: object = kind(value)
        return found
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{label(self, name)}: cannot convert {describe(value)} to {to}: {error}") from error
