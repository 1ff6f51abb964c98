"""Reductions, and functions along a batch dimension: functions of torch. Only `all` and `any` are methods too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import torch
from torch import Size, Tensor

from ..core import dimension_names
from ..core.blame import blame
from ..core.contents import contents
from ..core.sizes import Dim, dimension
from ..core.stored import Stored
from ..fields.per_item import items_become
from ..methods.operands import Function
from ..methods.reshaping import batch_dimensions, with_names
from .entries import DIMENSION_ERRORS, Effect, Group, Operation, documented

T = TypeVar("T", bound=Stored)
A = TypeVar("A")
Item = TypeVar("Item")

Dims = Dim | Sequence[Dim] | None
"""Batch dimensions; all dimensions of every tensor where it is None."""


class ValuesAndIndices(NamedTuple, Generic[Item]):
    """The result of `min` and `max` along a dimension, and of `cummin` and `cummax`: two objects, the second with positions."""

    values: Item
    indices: Item


_Reduction: TypeAlias = tuple[Function, int | tuple[int, ...] | None, bool]
"""What is computed of each tensor: `function(tensor, dims, keepdim)`."""


@items_become("reduced")
def _reduce(tensor: Tensor, argument: _Reduction) -> Tensor:
    function, dims, keepdim = argument
    result: Tensor = function(tensor, tuple(range(tensor.dim())) if dims is None else dims, keepdim)
    return result


@items_become("reduced")
def _reduce_to_number(tensor: Tensor, argument: _Reduction) -> Tensor:
    result: Tensor = argument[0](tensor)
    return result


def reduced(self: T, name: str, function: Function, dim: Dims = None, keepdim: bool = False) -> T:
    """The object with every tensor reduced over batch dimensions; without `dim`, over all dimensions that it has.

    Raises:
        IndexError: there is no such batch dimension.
        RuntimeError: torch refuses a tensor; the field is named.
    """
    size, names = self._batch_size, self._names
    if dim is not None:
        dims = batch_dimensions(self, dim, name)
        if keepdim:
            left = Size([1 if at in dims else length for at, length in enumerate(size)])
        else:
            left = Size([length for at, length in enumerate(size) if at not in dims])
            names = names and dimension_names.without(names, dims)
        # Functions of torch take one number faster than a tuple of one, and some take no tuple.
        over = dims[0] if len(dims) == 1 else dims
        out = rearranged(self, name, _reduce, (function, over, keepdim), left)
        out._names = names
        return out
    if keepdim:
        out = rearranged(self, name, _reduce, (function, None, True), Size((1,) * len(size)))
        out._names = names
    else:
        out = rearranged(self, name, _reduce_to_number, (function, None, False), Size())
    _level(out)
    return out


def _level(self: Stored) -> None:
    """Set the batch size of a new object for the objects nested in it: none of their own dimensions are left."""
    if self._nested:
        values = contents(self)
        for name in self._nested:
            inner = values[name]
            if isinstance(inner, Stored):
                inner._batch_size = self._batch_size
                _level(inner)


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


_entry = partial(Operation, batch=Effect.DROPS, beyond=Effect.DROPS)
"""An entry for a reduction."""


def _reduction(name: str, doc: str, *others: Function) -> Operation:
    function: Function = getattr(torch, name)

    def handler(input: T, dim: Dims = None, keepdim: bool = False, **options: object) -> T:
        return reduced(input, name, partial(function, **options) if options else function, dim, keepdim)

    return _entry(name, doc, documented(handler, name, doc), (function, *others), form="reduction", is_method=False)


def _spread(name: str, doc: str) -> Operation:
    """`std` and `var`, whose second argument may be a bool."""
    function: Function = getattr(torch, name)

    def handler(
        input: T, dim: Dims = None, unbiased: bool = True, keepdim: bool = False, *, correction: float | None = None
    ) -> T:
        dims, divisor = (None, dim) if isinstance(dim, bool) else (dim, unbiased)
        amount = int(divisor) if correction is None else correction
        return reduced(input, name, partial(applied, correction=amount), dims, keepdim)

    def applied(tensor: Tensor, dims: Any = None, keepdim: bool = False, *, correction: float) -> Tensor:
        result: Tensor = function(tensor, dims, correction=correction, keepdim=keepdim)
        return result

    return _entry(name, doc, documented(handler, name, doc), (function,), form="reduction", is_method=False)


def _truth(name: str, doc: str, function: Function, together: Function, of_none: bool) -> Operation:
    """`all` and `any`: without arguments they are a bool, for `if` and `assert`."""

    def method(self: T, dim: Dims = None, keepdim: bool = False) -> T | bool:
        if dim is not None:
            return reduced(self, name, function, dim, keepdim)
        return truth([function(tensor) for tensor in self._leaves()], together, of_none)

    return _entry(name, doc, documented(method, name, doc), (function,), form="truth")


def _extremum(name: str, doc: str, pair: Function, value: Function, of_two: Function) -> Operation:
    """`min` and `max`, which give positions too along one dimension; with another operand they are `minimum` and `maximum`."""

    def handler(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        operand = dim if other is None else other
        if isinstance(operand, (Tensor, Stored)):
            return of_two(input, operand)
        if dim is None:
            return reduced(input, name, value)
        at, names, size = dimension(input, dim), input._names, [*input._batch_size]
        if keepdim:
            size[at] = 1
        else:
            names = dimension_names.without(names, (at,))
            del size[at]
        return _both(input, name, pair, (at, keepdim), Size(size), names)

    return _entry(name, doc, documented(handler, name, doc), (pair,), form="extremum", is_method=False)


@items_become("reduced")
def _pair_of(tensor: Tensor, argument: tuple[Function, tuple[Any, ...]]) -> tuple[Tensor, Tensor]:
    """Two tensors, from a function that gives two."""
    function, arguments = argument
    first, second = function(tensor, *arguments)
    return first, second


def _both(
    self: T, name: str, pair: Function, arguments: tuple[Any, ...], size: Size, names: dimension_names.Names | None
) -> ValuesAndIndices[T]:
    """Two objects from `pair(tensor, *arguments)`, which gives two tensors."""
    try:
        values, indices = self._split(_pair_of, (pair, arguments), [size, size])
    except RuntimeError as error:
        blame(name, [self], lambda tensor: pair(tensor, *arguments), error)
        raise
    values._names = indices._names = names
    return ValuesAndIndices(values, indices)


def _running_pair(name: str, doc: str) -> Operation:
    """`cummin` and `cummax`."""
    function: Function = getattr(torch, name)

    def handler(input: T, dim: Dim) -> ValuesAndIndices[T]:
        return _both(input, name, function, (dimension(input, dim),), input._batch_size, input._names)

    return Operation(name, doc, documented(handler, name, doc), (function,), form="running pair", is_method=False)


def _running(name: str, doc: str, function: Function, *others: Function) -> Operation:
    """Operations along one batch dimension that keep its size."""

    @items_become("kept")
    def apply(tensor: Tensor, argument: tuple[int, torch.dtype | None]) -> Tensor:
        dim, dtype = argument
        result: Tensor = function(tensor, dim) if dtype is None else function(tensor, dim, dtype=dtype)
        return result

    # What `functional.softmax` has in the third place, it passes by keyword; `torch.softmax` has the dtype there.
    def handler(input: T, dim: Dim, dtype: torch.dtype | None = None, *, _stacklevel: int = 3) -> T:
        return with_names(
            rearranged(input, name, apply, (dimension(input, dim), dtype), input._batch_size), input._names
        )

    return Operation(name, doc, documented(handler, name, doc), (function, *others), form="running", is_method=False)


def norm(
    input: T, p: float | str = 2, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> T:
    """The norm of order `p`.

    Raises:
        ValueError: `p` is the name of a norm of matrices.
    """
    if isinstance(p, str) and p != "fro":
        raise ValueError(
            f"norm: expected a number or 'fro', got {p!r}; norms of matrices are those of a field's tensor"
        )
    order = 2 if p == "fro" else p

    def applied(tensor: Tensor, dims: Any = None, keepdim: bool = False) -> Tensor:
        result: Tensor = torch.linalg.vector_norm(tensor, order, dims, keepdim, dtype=dtype)
        return result

    return reduced(input, "norm", applied, dim, keepdim)


functional = torch.nn.functional

REDUCTIONS = (
    _reduction("sum", "The sum."),
    _reduction("mean", "The mean."),
    _reduction("prod", "The product."),
    _reduction("nansum", "The sum, NaN counted as 0."),
    _reduction("nanmean", "The mean, NaN left out."),
    _spread("std", "The standard deviation."),
    _spread("var", "The variance."),
    _reduction("amin", "The smallest number."),
    _reduction("amax", "The largest number."),
    _reduction("logsumexp", "The logarithm of the sum of exponentials.", torch.special.logsumexp),
    _extremum("min", "The smallest number and, along one dimension, its place.", torch.min, torch.amin, torch.minimum),
    _extremum("max", "The largest number and, along one dimension, its place.", torch.max, torch.amax, torch.maximum),
    _entry("norm", "The norm of order `p`.", norm, (torch.norm,), form="reduction norm", is_method=False),
    _truth("all", "True if every number is nonzero.", torch.all, torch.logical_and, True),
    _truth("any", "True if a number is nonzero.", torch.any, torch.logical_or, False),
)

RUNNING = (
    _running("cumsum", "The sum so far along a batch dimension.", torch.cumsum),
    _running("cumprod", "The product so far along a batch dimension.", torch.cumprod),
    _running_pair("cummin", "The smallest number so far, and its place."),
    _running_pair("cummax", "The largest number so far, and its place."),
    _running("softmax", "", torch.softmax, functional.softmax, torch.special.softmax),
    _running("log_softmax", "", torch.log_softmax, functional.log_softmax, torch.special.log_softmax),
    _running("softmin", "", functional.softmin),
    _running("logcumsumexp", "", torch.logcumsumexp),
)

GROUP = Group(
    "Reductions",
    "`dim` is a batch dimension or, where torch takes one, a tuple of them. Without it, every tensor is reduced to one "
    "number, and the result has an empty batch size, nested objects included. `keepdim=True` keeps reduced dimensions with "
    "size 1. Without arguments, the methods `all()` and `any()` return a bool.",
    REDUCTIONS,
    DIMENSION_ERRORS,
)

RUNNING_GROUP = Group(
    "Along a batch dimension",
    "The batch size and the shapes of the tensors stay the same, and torch decides the dtype: a sum of integers is int64. "
    "`dtype=`, where a function has it, is the dtype that the tensors are converted to before.",
    RUNNING,
    DIMENSION_ERRORS,
)
