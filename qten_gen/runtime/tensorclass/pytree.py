"""TensorClasses as pytrees (`torch.utils._pytree`), which vmap, compile and export take their arguments apart with."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import torch
from torch import Size, Tensor
from torch.utils import _pytree

from .contents import tensor_and_nested

if TYPE_CHECKING:
    from .tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")


class Layout(NamedTuple):
    """What a tree keeps of an object beside its children.

    Batch size and device are found again from the children, so that objects of different batch sizes have one structure, and
    `vmap` sees one batch dimension less inside. An object without children keeps its own in `alone`.
    """

    names: tuple[str, ...]
    """The children: tensor and nested fields that are not None."""
    static: tuple[object, ...]
    events: int
    """How many dimensions the first child has beyond the batch dimensions."""
    has_device: bool
    alone: tuple[Size, torch.device | None] | None


def register(cls: type) -> None:
    """Make a complete class known to pytree. Children are its tensors and nested objects; key paths are attribute names."""
    names = tensor_and_nested(cast("type[TensorClass]", cls))
    _pytree.register_pytree_node(
        cls,
        partial(_flatten, names),
        partial(_unflatten, cls, names),
        flatten_with_keys_fn=partial(_flatten_keyed, names),
    )


def _flatten(names: tuple[str, ...], self: TensorClass) -> tuple[list[Any], Layout]:
    values, static = self._contents()
    children = [value for value in values if value is not None]
    if not children:
        return children, Layout((), static, 0, False, (self._batch_size, self._device))
    if len(children) < len(values):
        names = tuple(name for name, value in zip(names, values, strict=True) if value is not None)
    events = len(_shape(children[0])) - len(self._batch_size)
    return children, Layout(names, static, events, self._device is not None, None)


def _flatten_keyed(names: tuple[str, ...], self: TensorClass) -> tuple[list[tuple[Any, Any]], Layout]:
    children, layout = _flatten(names, self)
    return [(_pytree.GetAttrKey(name), child) for name, child in zip(layout.names, children, strict=True)], layout


def _unflatten(cls: type[T], names: tuple[str, ...], children: Iterable[Any], layout: Layout) -> T:
    """The object of a layout around new children, which may be anything: results of a function, or markers."""
    found = list(children)
    if layout.alone is not None:
        batch_size, device = layout.alone
    else:
        batch_size = _common(found, len(_shape(found[0])) - layout.events)
        device = _device(found[0]) if layout.has_device else None
    if len(found) < len(names):
        given = dict(zip(layout.names, found, strict=True))
        found = [given.get(name) for name in names]
    out: T = object.__new__(cls)
    return out._refill(found, layout.static, batch_size, device)


def _common(children: list[Any], dimensions: int) -> Size:
    """The batch size of the first child's leading dimensions, as far as all children share it."""
    size = _shape(children[0])[: max(dimensions, 0)]
    for child in children[1:]:
        shape = _shape(child)
        while shape[: len(size)] != size:
            size = size[:-1]
    return size


def _shape(child: Any) -> Size:
    """Shape of a tensor, batch size of a nested object; a marker has no dimensions."""
    if isinstance(child, Tensor):
        return child.shape
    size = getattr(child, "_batch_size", None)
    return size if isinstance(size, Size) else Size()


def _device(child: Any) -> torch.device | None:
    return child.device if isinstance(child, Tensor) else getattr(child, "_device", None)
