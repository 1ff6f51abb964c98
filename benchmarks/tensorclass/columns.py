"""The classes that stand beside each other: how the class of a layout is made in each column, and the objects to operate on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import new_class
from typing import Any

import torch
from torch import Size, Tensor
from torch.utils._pytree import register_pytree_node, tree_flatten, tree_unflatten

from . import handwritten
from .layouts import GENERATED, Layout

SMALL, LARGE = (4, 3), (65536, 64)
"""Batch and width of each field: so small that only the class costs, and so large that only the arithmetic does."""


@dataclass(frozen=True, slots=True)
class Column:
    """A way to have a class: its heading, and the class of a layout."""

    name: str
    cls: Callable[[Layout], type]
    is_tree: bool = False
    """Whether operations go through `tree_map`."""
    is_generated: bool = False
    """Whether it is the class that the others are compared with."""


def columns() -> tuple[Column, ...]:
    """All columns; those of tensordict only where it is installed."""
    peers = (Column("tensordict", _peer), Column("tensor_only", _strict_peer)) if find_spec("tensordict") else ()
    return (
        Column("generated", lambda layout: GENERATED[layout.name], is_generated=True),
        Column("by hand", lambda layout: handwritten.CLASSES[layout.name]),
        *peers,
        Column("pytree", _dataclass, is_tree=True),
    )


def _peer(layout: Layout) -> type:
    return _tensordict_class(layout, "")


def _strict_peer(layout: Layout) -> type:
    return _tensordict_class(layout, "tensor_only")


@cache
def _made() -> dict[tuple[str, str], type]:
    return {}


def _tensordict_class(layout: Layout, flag: str) -> type:
    """The class of a layout as a TensorClass of tensordict."""
    key = (layout.name, flag or "default")
    if key not in _made():
        base: Any = import_module("tensordict").TensorClass
        fields = {
            **dict.fromkeys(layout.tensors, Tensor),
            **_children(layout, lambda child: _tensordict_class(child, flag)),
        }
        body = {"__annotations__": fields, "__module__": __name__}
        made = new_class(
            f"{layout.name}_{key[1]}", (base[flag] if flag else base,), exec_body=lambda space: space.update(body)
        )
        _made()[key] = globals()[made.__name__] = made
    return _made()[key]


def _dataclass(layout: Layout) -> type:
    """The class of a layout as a plain dataclass that pytree knows. It checks nothing and has no batch size."""
    key = (layout.name, "dataclass")
    if key not in _made():
        fields = [*((name, Tensor) for name in layout.tensors), *_children(layout, _dataclass).items()]
        made = make_dataclass(f"{layout.name}_dataclass", fields, namespace={"__module__": __name__}, slots=True)
        names = layout.fields
        register_pytree_node(
            made,
            lambda item: ([getattr(item, name) for name in names], None),
            lambda children, _: made(*children),
        )
        _made()[key] = globals()[made.__name__] = made
    return _made()[key]


def _children(layout: Layout, cls: Callable[[Layout], type]) -> dict[str, type]:
    return {name: cls(child) for name, child in layout.nested.items()}


def build(column: Column, layout: Layout, batch: Sequence[int], width: int, device: str | None = None) -> Any:
    """An object with random numbers in it; the same numbers in every column."""
    values: list[Any] = [torch.rand(*batch, width) for _ in layout.tensors]
    values += [build(column, child, batch, width, device) for child in layout.nested.values()]
    cls = column.cls(layout)
    return cls(*values) if column.is_tree else cls(*values, batch_size=Size(batch), device=device)


def taken_apart(function: Callable[[Tensor], Sequence[Tensor]], tree: Any) -> list[Any]:
    """What `split` and its like are for a pytree: the pieces of every leaf, put together piece by piece."""
    leaves, spec = tree_flatten(tree)
    return [tree_unflatten(pieces, spec) for pieces in zip(*map(function, leaves), strict=True)]


def names(column: Column, layout: Layout, size: tuple[int, int]) -> dict[str, Any]:
    """What the statements of the operations name."""
    torch.manual_seed(0)
    batch, width = size
    side = int(batch**0.5)
    space: dict[str, Any] = {"C": column.cls(layout), "size": Size([batch]), "bad": Size([batch + 1])}
    space["a"] = build(column, layout, [batch], width)
    space["b"] = build(column, layout, [batch], width)
    space["placed"] = build(column, layout, [batch], width, "cpu")
    space["row"] = build(column, layout, [], width)
    space["pair"] = build(column, layout, [2], width)
    space["square"] = build(column, layout, [side, side], width)
    space["thin"] = build(column, layout, [batch, 1], width)
    space |= {name: getattr(space["a"], name) for name in layout.fields}
    space["value"] = torch.rand(batch, width)
    space["mask"] = torch.rand(batch) < 0.75
    space["rows"] = torch.randint(batch, (max(2, batch // 2),))
    space["side"] = side
    space["taken_apart"] = taken_apart
    return space
