"""The structure of an object as JSON, which `torch.export.save` and `treespec_dumps` write, and the way back.

Static values are part of it. So only those can be written that JSON gives back as they were, and tuples of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import torch
from torch import Size

from ..core.names import Names
from ..core.stored import Stored
from ..fields.static import equal


class Hidden(NamedTuple):
    """A tensor inside of vmap."""

    shape: Size
    stride: tuple[int, ...]
    hidden_stride: int
    """The stride of the dimension that is hidden; 0 where the tensor has none, and is expanded."""


class Layout(NamedTuple):
    """What a tree keeps of an object beside its children.

    Batch size and device are found again from the children, so that objects of different batch sizes have one structure, and
    `vmap` sees one batch dimension less inside. An object without tensors that carry the batch keeps its own in `alone`; where
    another object holds it, that gives it what fits: see `_alone_in`.
    """

    names: tuple[str, ...]
    """The children: tensor and nested fields that are not None."""
    static: tuple[object, ...]
    event_ndim: int
    """How many dimensions the first child that carries the batch has beyond the batch dimensions."""
    batch_ndim: int
    """How many batch dimensions there were."""
    has_device: bool
    alone: tuple[Size, torch.device | None] | None
    unbatched: tuple[tuple[str, int], ...] = ()
    """The Unbatched children, and how many dimensions each has at least."""
    dimension_names: Names | None = None
    hidden: Hidden | None = None
    """Inside of vmap, how the first child lies in memory, whose dimension comes back in a place that only that tells."""

    def __eq__(self, other: object) -> bool:
        # What the children themselves say is not compared: a tree of numbers has to fit one of tensors, for `in_dims`.
        if self is other:
            return True
        if not isinstance(other, Layout) or self.names != other.names or len(self.static) != len(other.static):
            return False
        return self.static is other.static or all(map(equal, self.static, other.static))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.names, *map(_hash, self.static)))


def _hash(value: object) -> int:
    """A number that equal static values share. Arrays and mutable values have no hash of their own, and each NaN has another."""
    try:
        return hash(value) if value == value else 0
    except (TypeError, ValueError):
        return 0


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
