"""The layout of an object in a tree: the facts kept beside its children, and what children tell about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeGuard

import torch
from torch import Size, Tensor
from torch._C._functorch import get_unwrapped, is_batchedtensor, maybe_current_level, maybe_get_bdim, maybe_get_level
from torch.compiler import is_dynamo_compiling

from ..core.contents import batched_leaves, tensors_of
from ..core.dimension_names import Names
from ..core.stored import Stored


class Hidden(NamedTuple):
    """A tensor inside of vmap."""

    shape: Size
    stride: tuple[int, ...]
    hidden_stride: int
    """The stride of the dimension that is hidden; 0 where the tensor has none, and is expanded."""


class Layout(NamedTuple):
    """The facts that a tree keeps of an object beside its children.

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
        if self.static is other.static or not self.static:
            return True
        from ..fields.static import equal  # few objects have static values that are not the very same

        return all(map(equal, self.static, other.static))

    # The one of a tuple would compare all attributes.
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


def layout_of(
    self: Stored,
    names: tuple[str, ...],
    static: tuple[object, ...],
    carried: list[Any],
    unbatched: tuple[tuple[str, int], ...],
) -> Layout:
    """The layout of any object. `carried` are its children, without those that the batch does not carry."""
    batch_ndim = len(self._batch_size)
    for child in carried:
        if not is_alone(child):
            own = dims_of(child) - batch_ndim
            return Layout(
                names, static, own, batch_ndim, self._device is not None, None, unbatched, self._names, hidden_in(child)
            )
    return Layout(names, static, 0, batch_ndim, False, (self._batch_size, self._device), unbatched, self._names)


def apart(children: Iterable[Any]) -> list[Any]:
    """The children, with the tensors of a dict or list in its place."""
    return [one for child in children for one in tensors_of(child)]


def is_alone(child: Any) -> TypeGuard[Stored]:
    """Whether a child is an object without tensors that could say what has become of its batch size."""
    if isinstance(child, Tensor) or not isinstance(getattr(child, "_batch_size", None), Size):
        return False
    return not batched_leaves(child)


def hidden_in(child: object) -> Hidden | None:
    """How a child lies in memory where vmap hides a dimension of it; None outside, where nothing is hidden."""
    level = None if is_dynamo_compiling() else maybe_current_level()
    if level is None or not isinstance(child, Tensor):
        return None
    hides = is_batchedtensor(child) and maybe_get_level(child) == level
    return Hidden(child.shape, child.stride(), get_unwrapped(child).stride(maybe_get_bdim(child)) if hides else 0)


def dims_of(child: Any) -> int:
    """How many dimensions a child has that the batch size can be of."""
    return child.dim() if isinstance(child, Tensor) else len(shape_of(child))


def shape_of(child: Any) -> Size:
    """Shape of a tensor, batch size of a nested object; a marker has no dimensions."""
    if isinstance(child, Tensor):
        return child.shape
    size = getattr(child, "_batch_size", None)
    return size if isinstance(size, Size) else Size()
