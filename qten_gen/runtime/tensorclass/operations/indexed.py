"""Functions of torch that select, write or put together items along batch dimensions, and are not methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Size, Tensor

from ..core.indices import IndexItem
from ..core.sizes import with_length
from ..core.stored import Stored
from ..core.tensor_shapes import Dim, dimension
from ..fields.per_item import items_become
from ..methods import joining, reshaping
from ..methods.indexing import getitem
from ..methods.operands import Function
from . import selecting, shape_ops
from .dimensions import with_names
from .entries import Effect, Group, Operation, documented
from .ordering import entry

T = TypeVar("T", bound=Stored)


def index_select(input: T, dim: Dim, index: Tensor) -> T:
    at = dimension(input, dim)
    rows = index.reshape(-1) if index.dim() == 0 else index
    size = with_length(input._batch_size, at, rows.shape[0])
    return with_names(input._rearrange(shape_ops.index_select, (at, rows), size), input._names)


def select(input: T, dim: Dim, index: int) -> T:
    before: list[IndexItem] = [slice(None)] * dimension(input, dim)
    return getitem(input, (*before, index))


def take_along_dim(input: T, indices: T | Tensor, dim: Dim | None = None) -> T:
    """`gather`, but the other dimensions broadcast."""
    if dim is None:
        flat = reshaping.flatten(indices) if isinstance(indices, Stored) else indices.reshape(-1)
        return take_along_dim(reshaping.flatten(input), flat, 0)
    at = dimension(input, dim)
    if isinstance(indices, Tensor) and indices.dim() == len(input._batch_size):
        size = with_length(input._batch_size, at, 1)
        indices = indices.expand(torch.broadcast_shapes(size, indices.shape))  # type: ignore[no-untyped-call] # torch leaves it untyped
    return selecting.gather(input, at, indices)


def index_fill(input: T, dim: Dim, index: Tensor, value: float) -> T:
    argument = (dimension(input, dim), index, value)
    return with_names(input._rearrange(_index_fill, argument, input._batch_size), input._names)


@items_become("kept")
def _index_fill(tensor: Tensor, argument: tuple[int, Tensor, float]) -> Tensor:
    return torch.index_fill(tensor, *argument)


def t(input: T) -> T:
    if len(input._batch_size) > 2:
        raise ValueError(
            f"t: expected at most 2 batch dimensions, got {len(input._batch_size)}; use .transpose or .permute"
        )
    return reshaping.transpose(input, 0, 1) if len(input._batch_size) == 2 else input


def hstack(tensors: Sequence[T]) -> T:
    items = [shape_ops.atleast_1d(item) for item in tensors]
    return joining.cat(items, 0 if items and len(items[0]._batch_size) == 1 else 1)


def vstack(tensors: Sequence[T]) -> T:
    return joining.cat([shape_ops.atleast_2d(item) for item in tensors])


def dstack(tensors: Sequence[T]) -> T:
    return joining.cat([shape_ops.atleast_3d(item) for item in tensors], 2)


def column_stack(tensors: Sequence[T]) -> T:
    columns = [item if len(item._batch_size) > 1 else reshaping.reshape(item, (-1, 1)) for item in tensors]
    return joining.cat(columns, 1)


def broadcast_tensors(*tensors: Stored) -> tuple[Stored, ...]:
    """The objects expanded to the batch size that theirs broadcast to."""
    for item in tensors:
        if not isinstance(item, Stored):
            raise TypeError(
                f"broadcast_tensors: expected objects only, got {type(item).__name__}; use .expand_as for two"
            )
    size: Size = torch.broadcast_shapes(*[item._batch_size for item in tensors])  # type: ignore[no-untyped-call] # torch leaves it untyped
    return tuple([reshaping.expand(item, size) for item in tensors])


def _several(method: Function, doc: str, *torch_functions: Function) -> Operation:
    """An entry for a function whose first argument is not an object, but several of them."""
    made = documented(method, method.__name__, doc)
    return Operation(made.__name__, doc, made, torch_functions, made, batch=Effect.REARRANGES, is_method=False)


def _arranging(method: Function, doc: str, *torch_functions: Function) -> Operation:
    """An entry for a function that puts items in other places, or leaves some out."""
    return entry(method, *torch_functions, doc=doc, batch=Effect.REARRANGES)


INDEXED = (
    _arranging(index_select, "The items at some positions along a batch dimension.", torch.index_select),
    _arranging(select, "The items at one position along a batch dimension.", torch.select),
    _arranging(
        take_along_dim,
        "`gather` whose other dimensions broadcast; positions may be an object, as `argsort` gives it.",
        torch.take_along_dim,
    ),
    entry(index_fill, torch.index_fill),
    _arranging(t, "The two batch dimensions exchanged, where there are two.", torch.t),
    _several(hstack, "`cat` along the second batch dimension, or the only one.", torch.hstack),
    _several(vstack, "`cat` along the first of at least two batch dimensions.", torch.vstack, torch.row_stack),
    _several(dstack, "`cat` along the third of at least three batch dimensions.", torch.dstack),
    _several(
        column_stack, "`cat` along the second batch dimension, which is added where there is one.", torch.column_stack
    ),
    _several(broadcast_tensors, "Objects expanded to one batch size.", torch.functional.broadcast_tensors),
)

GROUP = Group(
    "Items as torch picks them",
    "Dimensions are batch dimensions. The dimensions that a field has beyond the batch size stay as they are.",
    INDEXED,
)
