"""Entries of the operations that change the batch dimensions, put objects together, take them apart or select items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from ..core.error_text import describe
from ..core.stored import Stored
from ..methods import joining, reshaping
from ..methods.operands import Function
from . import selecting, shape_ops
from .entries import Effect, Group, Operation, written_out
from .new_objects import CREATING
from .shape_ops import T

_shape = partial(written_out, batch=Effect.REARRANGES)
"""An entry for a method that is written elsewhere, with its own documentation."""


def _spread(method: Function, keyword: str) -> Function:
    """The method for torch, which knows what the method takes one by one under the name `keyword`."""

    def handler(input: Any, *values: Any, **options: Any) -> Any:
        return method(input, *values, *([options[keyword]] if keyword in options else []))

    return handler


def _stack(tensors: Sequence[T], dim: int = 0) -> T:
    try:
        return joining.stack(tensors, dim)
    except AttributeError:  # asked after the failure: the usual call has nothing else among its objects
        _refuse_others("stack", tensors)
        raise


def _cat(tensors: Sequence[T], dim: int = 0) -> T:
    try:
        return joining.cat(tensors, dim)
    except AttributeError:
        _refuse_others("cat", tensors)
        raise


def _refuse_others(name: str, items: Sequence[object]) -> None:
    """Raise the error of something else among the objects to be put together; called after that has failed.

    Raises:
        TypeError: there is a tensor, say.
    """
    for item in items:
        if not isinstance(item, Stored):
            raise TypeError(f"{name}: expected objects of one class, got {describe(item)} among them")


def _split(tensor: T, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[T, ...]:
    return joining.split(tensor, split_size_or_sections, dim)


SHAPES = (
    _shape(reshaping.reshape, torch.reshape, handler=_spread(reshaping.reshape, "shape")),
    _shape(reshaping.view),
    _shape(reshaping.flatten, torch.flatten, torch.ravel),
    _shape(reshaping.unflatten, torch.unflatten),
    _shape(reshaping.permute, torch.permute, handler=_spread(reshaping.permute, "dims")),
    _shape(reshaping.transpose, torch.transpose),
    _shape(reshaping.swapaxes, torch.swapaxes),
    _shape(reshaping.swapaxes, torch.swapdims, name="swapdims", handler=reshaping.transpose),
    _shape(shape_ops.movedim, torch.movedim),
    _shape(shape_ops.movedim, torch.moveaxis, name="moveaxis"),
    _shape(reshaping.squeeze, torch.squeeze),
    _shape(reshaping.unsqueeze, torch.unsqueeze),
    _shape(reshaping.expand),
    _shape(shape_ops.expand_as),
    _shape(shape_ops.broadcast_to, torch.broadcast_to),
    _shape(shape_ops.atleast_1d, torch.atleast_1d),
    _shape(shape_ops.atleast_2d, torch.atleast_2d),
    _shape(shape_ops.atleast_3d, torch.atleast_3d),
    _shape(shape_ops.repeat),
    _shape(shape_ops.tile, torch.tile, handler=_spread(shape_ops.tile, "dims")),
    _shape(shape_ops.repeat_interleave, torch.repeat_interleave),
    _shape(shape_ops.roll, torch.roll, batch=Effect.KEEPS),
    _shape(shape_ops.flip, torch.flip, handler=_spread(shape_ops.flip, "dims"), batch=Effect.KEEPS),
    _shape(shape_ops.fliplr, torch.fliplr, batch=Effect.KEEPS),
    _shape(shape_ops.flipud, torch.flipud, batch=Effect.KEEPS),
    _shape(shape_ops.rot90, torch.rot90),
    _shape(shape_ops.pad),
)

TOGETHER = (
    Operation(
        "stack",
        "Objects along a new batch dimension.",
        joining.stack_of_class,
        (torch.stack,),
        _stack,
        batch=Effect.REARRANGES,
        on_class=True,
    ),
    Operation(
        "cat",
        "Objects one after the other along a batch dimension.",
        joining.cat_of_class,
        (torch.cat, torch.concat, torch.concatenate),
        _cat,
        batch=Effect.REARRANGES,
        on_class=True,
    ),
    _shape(
        joining.split,
        torch.split,
        torch.split_with_sizes,
        torch.unsafe_split,
        torch.unsafe_split_with_sizes,
        handler=_split,
    ),
    _shape(joining.chunk, torch.chunk, torch.unsafe_chunk),
    _shape(joining.unbind, torch.unbind),
    _shape(selecting.tensor_split, torch.tensor_split),
)

SELECTING = (
    _shape(selecting.narrow, torch.narrow),
    _shape(selecting.gather, torch.gather),
    _shape(selecting.masked_select, torch.masked_select),
    Operation(
        "masked_fill",
        "Another value where the mask is true.",
        selecting.masked_fill,
        (torch.masked_fill,),
        in_place=selecting.masked_fill_,
    ),
    Operation(
        "where",
        "The object where the condition is true, another operand elsewhere.",
        selecting.where,
        (torch.where,),
        selecting.where_function,
    ),
)

SHAPE_GROUP = Group(
    "Batch shape",
    "Dimensions are batch dimensions. The dimensions that a field has beyond the batch size stay as they are.",
    SHAPES,
)

TOGETHER_GROUP = Group(
    "Put together and taken apart",
    "Objects that are put together have the same class and equal static fields. `Batch.stack` and `Batch.cat` are "
    "typed. `torch.stack` and `torch.cat` do the same.",
    TOGETHER,
)

SELECTING_GROUP = Group(
    "Some of the items",
    "Indexing selects items too: `batch[0]`, `batch[mask]`, `batch[mask] = 0`. A mask or condition broadcasts "
    "over the batch size, or is an object with bool tensors, such as the result of a comparison.",
    SELECTING,
)

CREATING_GROUP = Group(
    "New objects like another",
    "The class and the static fields are those of the given object. `Batch.zeros_like(batch)` is typed. "
    "`torch.zeros_like(batch)` does the same.",
    CREATING,
)
