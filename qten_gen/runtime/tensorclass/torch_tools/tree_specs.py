"""The structure of an object as JSON, which `torch.export.save` and `treespec_dumps` write, and the way back.

Static values are part of it. So only those can be written that JSON gives back as they were, and tuples of them.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Size

from ..core.stored import Stored
from .layouts import Layout


def dumped(cls: type[Stored], layout: Layout) -> dict[str, object]:
    """A layout as JSON.

    Raises:
        TypeError: a static value is of a type that JSON does not have.
    """
    static = [_dumped(cls, name, value) for name, value in zip(cls._static, layout.static, strict=True)]
    alone: list[object] | None = None
    if layout.alone is not None:
        size, device = layout.alone
        alone = [list(size), None if device is None else str(device)]
    return {
        "names": list(layout.names),
        "static": static,
        "events": layout.event_ndim,
        "n": layout.batch_ndim,
        "has_device": layout.has_device,
        "alone": alone,
        "unbatched": [list(each) for each in layout.unbatched],
        "dimension_names": None if layout.dimension_names is None else list(layout.dimension_names),
    }


def loaded(text: dict[str, Any]) -> Layout:
    """The layout of what `dumped` made."""
    alone = text["alone"]
    names = text["dimension_names"]
    return Layout(
        names=tuple(text["names"]),
        static=tuple(_loaded(value) for value in text["static"]),
        event_ndim=text["events"],
        batch_ndim=text["n"],
        has_device=text["has_device"],
        alone=None if alone is None else (Size(alone[0]), None if alone[1] is None else torch.device(alone[1])),
        unbatched=tuple((name, dims) for name, dims in text["unbatched"]),
        dimension_names=None if names is None else tuple(names),
    )


def _dumped(cls: type[Stored], name: str, value: object) -> object:
    """A static value as JSON; lists, tuples and dicts are tagged with their type."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) in (list, tuple):
        kind = type(value).__name__
        return {kind: [_dumped(cls, name, part) for part in cast("list[object]", value)]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": {key: _dumped(cls, name, part) for key, part in value.items()}}
    raise TypeError(
        f"{cls.__name__}.{name}: a static value of an exported program is written as JSON: None, bool, int, float, str, "
        f"or a list, tuple or dict of those; got a {type(value).__name__}"
    )


def _loaded(value: Any) -> object:
    if not isinstance(value, dict):
        return value
    [(kind, content)] = value.items()
    if kind == "dict":
        return {key: _loaded(part) for key, part in content.items()}
    parts = [_loaded(part) for part in content]
    return tuple(parts) if kind == "tuple" else parts
