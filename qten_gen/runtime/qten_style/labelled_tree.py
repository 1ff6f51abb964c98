"""Labelled tensors in trees: each has one leaf, its data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.utils import _pytree

if TYPE_CHECKING:
    from typing import Protocol

    class _Labelled(Protocol):
        @property
        def data(self) -> Tensor: ...
        @property
        def dims(self) -> tuple[Hashable, ...]: ...


def register_pytree(cls: type[_Labelled], labelled: Callable[[Tensor, tuple[Hashable, ...]], _Labelled]) -> None:
    """Make a class known to pytree; what comes out of a tree is made by `labelled`, and belongs to nobody."""

    def unflatten(children: Iterable[Tensor], dims: tuple[Hashable, ...]) -> _Labelled:
        (data,) = children
        return labelled(data, dims)

    _pytree.register_pytree_node(cls, _flatten, unflatten, flatten_with_keys_fn=_flatten_keyed)


def _flatten(tensor: _Labelled) -> tuple[list[Tensor], tuple[Hashable, ...]]:
    return [tensor.data], tensor.dims


def _flatten_keyed(tensor: _Labelled) -> tuple[list[tuple[Any, Tensor]], tuple[Hashable, ...]]:
    return [(_pytree.GetAttrKey("data"), tensor.data)], tensor.dims
