"""Reductions: which dimensions go, and how the tensors of an object are reduced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard, TypeVar

import torch
from torch import Size, Tensor

from ..core import dimension_names
from ..core.contents import contents
from ..core.dimension_names import Names
from ..core.error_text import blame
from ..core.sizes import Dim, dimension, listed, with_length, without
from ..core.stored import Stored
from ..fields.per_item import items_become
from ..methods.operands import Function

T = TypeVar("T", bound=Stored)

Dims: TypeAlias = Dim | Sequence[Dim] | Literal["feature"] | None
"""Batch dimensions; or those that fields have beyond them; or, where it is None, all of both."""


def batch_dimensions(self: Stored, dims: Dim | Sequence[Dim], name: str) -> tuple[int, ...]:
    """Batch dimensions counted from the front, each once.

    Raises:
        IndexError: there is no such batch dimension.
        ValueError: there are none, or one is given twice.
    """
    wanted = listed(dims)
    found = tuple([dimension(self, dim) for dim in wanted])
    if not found or len(set(found)) < len(found):
        raise ValueError(f"{type(self).__name__}.{name}: expected different batch dimensions, got {list(wanted)}")
    return found


def with_names(out: T, names: Names | None) -> T:
    """A new object with names for its batch dimensions."""
    out._names = names
    return out


def of_arguments(function: Callable[..., Tensor]) -> Callable[[Tensor, tuple[Any, ...]], Tensor]:
    """A function of a tensor and further arguments as primitives call it, with these as one."""

    def applied(tensor: Tensor, argument: tuple[Any, ...]) -> Tensor:
        return function(tensor, *argument)

    return applied


def reduced_size(size: Size, dims: Sequence[int], keepdim: bool) -> Size:
    """A batch size after the given dimensions were reduced."""
    if keepdim:
        return Size([1 if at in dims else length for at, length in enumerate(size)])
    return Size([length for at, length in enumerate(size) if at not in dims])


def all_dimensions(tensor: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """A tensor and all its dimensions; one without dimensions gets one."""
    return (tensor, tuple(range(tensor.dim()))) if tensor.dim() else (tensor.unsqueeze(0), (0,))


def event_dimensions(tensor: Tensor, batch_ndim: int) -> tuple[Tensor, tuple[int, ...]]:
    """A tensor and its dimensions beyond `batch_ndim` batch dimensions; where it has none, one is added."""
    if tensor.dim() == batch_ndim:
        return tensor.unsqueeze(-1), (batch_ndim,)
    return tensor, tuple(range(batch_ndim, tensor.dim()))


def level(self: Stored) -> None:
    """Set the batch size of a new object for the objects nested in it: none of their own dimensions are left."""
    if self._nested:
        values = contents(self)
        for name in self._nested:
            inner = values[name]
            if isinstance(inner, Stored):
                inner._batch_size = self._batch_size
                level(inner)


A = TypeVar("A")

Keywords = Mapping[str, Any]

_NONE: Keywords = {}


class Reduction(NamedTuple):
    """The reduction of each tensor: `function(tensor, dims, keepdim, **options)`."""

    function: Function
    dims: tuple[int, ...] | None
    """Batch dimensions; None is all dimensions of the tensor."""
    beyond: int | None
    """Where it is a number, the dimensions beyond so many batch dimensions are meant instead."""
    keepdim: bool
    options: Keywords


def reduced(
    self: T,
    name: str,
    function: Function,
    dim: Dims,
    keepdim: bool,
    reduce: bool,
    options: Keywords = _NONE,
    ranks: tuple[int, ...] = (),
) -> T | Tensor:
    """The object with every tensor reduced, or with `reduce` one tensor. `ranks` are dimensions that the function adds in front.

    Raises:
        IndexError: there is no such batch dimension.
        RuntimeError: torch refuses a tensor; the field is named.
    """
    if reduce:
        return _together(self, name, function, dim, keepdim, options)
    size = self._batch_size
    if type(dim) is int and not options and not ranks and self._names is None:
        return _reduced_along(self, name, function, dimension(self, dim), keepdim)
    if dim is None or _is_feature(dim, self):
        beyond = None if dim is None else len(self._batch_size)
        size = size if dim is not None else Size((1,) * len(size) if keepdim else ())
        out = rearranged(
            self, name, reduce_tensor, Reduction(function, None, beyond, keepdim, options), Size((*ranks, *size))
        )
        if dim is not None or keepdim:
            out._names = dimension_names.inserted(self._names, 0, len(ranks))
        level(out)
        return out
    dims = batch_dimensions(self, dim, name)
    left = reduced_size(size, dims, keepdim)
    out = rearranged(
        self, name, reduce_tensor, Reduction(function, dims, None, keepdim, options), Size((*ranks, *left))
    )
    if self._names is not None:
        kept = self._names if keepdim else dimension_names.without(self._names, dims)
        out._names = dimension_names.inserted(kept, 0, len(ranks))
    return out


def _reduced_along(self: T, name: str, function: Function, dim: int, keepdim: bool) -> T:
    """The usual reduction, in fewer steps: along one batch dimension, without options."""
    size = with_length(self._batch_size, dim, 1) if keepdim else without(self._batch_size, dim)
    # Functions of torch itself take a number in place of a tuple, and then need not look at the tuple.
    argument = (function, dim if isinstance(function, BuiltinFunctionType) else (dim,), keepdim)
    return rearranged(self, name, _reduce_along, argument, size)


@items_become("reduced")
def _reduce_along(tensor: Tensor, argument: tuple[Function, int | tuple[int], bool]) -> Tensor:
    function, dims, keepdim = argument
    result: Tensor = function(tensor, dims, keepdim)
    return result


@items_become(lambda argument, batch_size: "kept" if argument.beyond == len(batch_size) else "reduced")
def reduce_tensor(tensor: Tensor, argument: Reduction) -> Tensor:
    """One tensor reduced."""
    function, dims, beyond, keepdim, options = argument
    if dims is None:
        tensor, dims = all_dimensions(tensor) if beyond is None else event_dimensions(tensor, beyond)
    result: Tensor = function(tensor, dims, keepdim, **options)
    return result


def truth(found: Sequence[Tensor], together: Function, of_none: bool) -> bool:
    """One bool of the answers for each tensor: `truth([a.all(), b.all()], torch.logical_and, True)`.

    The answers are joined before one of them is a bool. In a graph such a bool is a symbol, which can be returned but is no
    reason to go one way or the other: a loop that ends at the first False would have its end written into the graph.
    """
    if not found:
        return of_none
    first, *rest = found
    for each in rest:
        first = together(first, each if each.device == first.device else each.to(first.device))
    return bool(first)


def _together(self: Stored, name: str, function: Function, dim: Dims, keepdim: bool, options: Keywords) -> Tensor:
    """Reduces all fields into one tensor, whose shape is the remaining batch size.

    Raises:
        IndexError: there is no such batch dimension.
        ValueError: the object has no tensors.
    """
    batch_ndim = len(self._batch_size)
    if dim is None:
        kept: tuple[int, ...] = ()
    elif _is_feature(dim, self):
        kept = tuple(range(batch_ndim))
    else:
        dims = batch_dimensions(self, dim, name)
        kept = tuple([at for at in range(batch_ndim) if at not in dims])
    rows: list[Tensor] = []
    self._rearrange(_row, (kept, rows), self._batch_size)  # for the rows alone: the object is not used
    if not rows:
        raise ValueError(f"{type(self).__name__}.{name}: there are no tensors to reduce to one")
    result: Tensor = function(torch.cat(rows, -1), (len(kept),), False, **options)
    return _kept(result, [size if at in kept else 1 for at, size in enumerate(self._batch_size)], len(kept), keepdim)


@items_become("kept")
def _row(tensor: Tensor, argument: tuple[tuple[int, ...], list[Tensor]]) -> Tensor:
    """Put a tensor into the list, its dimensions apart from the kept ones made one."""
    kept, rows = argument
    if not kept:
        rows.append(tensor.reshape(-1))
    else:
        order = (*kept, *[at for at in range(max(tensor.dim(), len(kept) + 1)) if at not in kept])
        rows.append((tensor if tensor.dim() > len(kept) else tensor.unsqueeze(-1)).permute(order).flatten(len(kept)))
    return tensor


def rearranged(self: T, name: str, function: Callable[[Tensor, A], Tensor], argument: A, size: Size) -> T:
    """`function(tensor, argument)` of every tensor, which makes the batch size `size`.

    Raises:
        RuntimeError: torch refuses a tensor; the field is named.
    """
    try:
        return self._rearrange(function, argument, size)
    except RuntimeError as error:
        blame(name, [self], lambda tensor: function(tensor, argument), error)
        raise


def _is_feature(dim: Dims, self: Stored) -> TypeGuard[Literal["feature"]]:
    """True if the dimensions beyond the batch dimensions are meant; one that is called so goes before."""
    return dim == "feature" and (self._names is None or dim not in self._names)


def over_one(function: Function) -> Function:
    """A function of one dimension made one of several: they are joined first."""

    def joined(tensor: Tensor, dims: tuple[int, ...], keepdim: bool, **options: Any) -> Any:
        if len(dims) == 1:
            return function(tensor, dims[0], keepdim, **options)
        rest = [at for at in range(tensor.dim()) if at not in dims]
        flat = tensor.permute(*rest, *dims).flatten(len(rest))
        result = function(flat, len(rest), False, **options)
        return _kept(result, [1 if at in dims else size for at, size in enumerate(tensor.shape)], len(rest), keepdim)

    return joined


def spread(function: Function) -> Function:
    """`torch.std` or `torch.var` with the arguments that reductions have."""

    def applied(tensor: Tensor, dims: tuple[int, ...], keepdim: bool, correction: float) -> Any:
        return function(tensor, dims, correction=correction, keepdim=keepdim)

    return applied


def _kept(result: Tensor, shape: list[int], left: int, keepdim: bool) -> Tensor:
    """A result with `left` dimensions, behind those that the function added, brought into a shape with the reduced ones."""
    return result.reshape(*result.shape[: result.dim() - left], *shape) if keepdim else result
