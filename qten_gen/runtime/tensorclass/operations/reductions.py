"""Reductions: `sum`, `mean`, `max`, ... over batch dimensions, over those beyond, or over everything."""

from __future__ import annotations

from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Size, Tensor

from ..core import dimension_names
from ..core.error_text import blame
from ..core.sizes import Dim, dimension, is_single
from ..core.stored import Stored
from ..fields.per_item import items_become
from ..methods.operands import Function, is_plain
from .entries import DIMENSION_ERRORS, Effect, Group, Operation, documented, written_out
from .reduction_ops import Dims, over_one, rearranged, reduced, reduced_size, spread, truth

T = TypeVar("T", bound=Stored)
Item = TypeVar("Item")


class ValuesAndIndices(NamedTuple, Generic[Item]):
    """The result of `min` and `max` along a dimension, and of `cummin` and `cummax`: two objects, the second with positions."""

    values: Item
    indices: Item


def _method(name: str, function: Function, takes: str) -> Function:
    """A reduction whose result is one object, or one tensor where `reduce` is true."""

    def plain(self: T, dim: Dims = None, keepdim: bool = False, *, reduce: bool = False) -> T | Tensor:
        return reduced(self, name, function, dim, keepdim, reduce)

    def with_dtype(
        self: T,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: bool = False,
    ) -> T | Tensor:
        return reduced(self, name, function, dim, keepdim, reduce, {} if dtype is None else {"dtype": dtype})

    def with_correction(
        self: T,
        dim: Dims = None,
        *,
        unbiased: bool | None = None,
        correction: float = 1,
        keepdim: bool = False,
        reduce: bool = False,
    ) -> T | Tensor:
        amount = correction if unbiased is None else int(unbiased)
        return reduced(self, name, function, dim, keepdim, reduce, {"correction": amount})

    methods: dict[str, Function] = {"": plain, "dtype": with_dtype, "correction": with_correction}
    return methods[takes]


def _reduction(name: str, doc: str, function: Function, *torch_functions: Function, takes: str = "dtype") -> Operation:
    return Operation(
        name,
        doc,
        documented(_method(name, function, takes), name, doc),
        torch_functions=torch_functions,
        batch=Effect.DROPS,
        beyond=Effect.DROPS,
        form=f"reduction {takes}".strip(),
    )


def quantile(
    self: T,
    q: float | Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    reduce: bool = False,
) -> T | Tensor:
    """The quantile `q`; a tensor of several adds a batch dimension in front."""
    options = {"q": q, "interpolation": interpolation}
    ranks = tuple(q.shape) if isinstance(q, Tensor) else ()
    return reduced(self, "quantile", _quantile, dim, keepdim, reduce, options, ranks)


def _over_one_dimension(tensor: Tensor, dim: int, keepdim: bool, q: float | Tensor, interpolation: str) -> Any:
    return torch.quantile(tensor, q, dim, keepdim, interpolation=interpolation)


_quantile = over_one(_over_one_dimension)


def norm(
    self: T,
    p: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
    reduce: bool = False,
) -> T | Tensor:
    """The norm of order `p`."""
    return reduced(self, "norm", _norm, dim, keepdim, reduce, {"p": p, "dtype": dtype})


def _norm(tensor: Tensor, dims: tuple[int, ...], keepdim: bool, p: float, dtype: torch.dtype | None) -> Tensor:
    result: Tensor = torch.linalg.vector_norm(tensor, p, dims, keepdim, dtype=dtype)
    return result


def _truth(name: str, doc: str, function: Function, together: Function, of_none: bool) -> Operation:
    """`all` and `any`: without arguments they are a bool, for `if` and `assert`."""

    def method(self: T, dim: Dims = None, keepdim: bool = False, *, reduce: bool = False) -> T | Tensor | bool:
        if reduce or dim is not None:
            return reduced(self, name, function, dim, keepdim, reduce)
        return truth([function(tensor) for tensor in self._leaves()], together, of_none)

    made = documented(method, name, doc)
    return Operation(name, doc, made, (function,), batch=Effect.DROPS, beyond=Effect.DROPS, form="truth")


def _extremum(name: str, doc: str, pair: Function, value: Function) -> Operation:
    """`min` and `max`, which give positions too where one dimension is reduced."""

    def method(
        self: T, dim: Dim | None = None, keepdim: bool = False, *, reduce: bool = False
    ) -> T | Tensor | ValuesAndIndices[T]:
        if reduce or dim is None:
            return reduced(self, name, value, dim, keepdim, reduce)
        if not is_single(dim):
            raise TypeError(
                f"{type(self).__name__}.{name}: expected one batch dimension, got {dim!r}; for others use a{name}"
            )
        at = dimension(self, dim)
        kept = self._names if keepdim else dimension_names.without(self._names, (at,))
        return _both(self, name, pair, (at, keepdim), reduced_size(self._batch_size, (at,), keepdim), kept)

    made = documented(
        method, name, f"{doc}\n\nRaises:\n    TypeError: `dim` is not one batch dimension; a{name} takes several."
    )

    def handler(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        """torch has three functions under this name."""
        operand = dim if other is None else other
        if isinstance(operand, Tensor) or not (operand is None or is_plain(operand)):
            return larger_or_smaller(input, operand)
        return made(input, dim, keepdim)

    larger_or_smaller = {"min": torch.minimum, "max": torch.maximum}[name]
    return Operation(name, doc, made, (pair,), handler, batch=Effect.DROPS, beyond=Effect.DROPS, form="extremum")


@items_become("reduced")
def _pair_of(tensor: Tensor, argument: tuple[Function, tuple[Any, ...]]) -> tuple[Tensor, Tensor]:
    """Two tensors, from a function that gives two."""
    function, arguments = argument
    first, second = function(tensor, *arguments)
    return first, second


def _both(
    self: T,
    name: str,
    pair: Function,
    arguments: tuple[Any, ...],
    size: Size,
    kept: dimension_names.Names | None,
) -> ValuesAndIndices[T]:
    """Two objects from `pair(tensor, *arguments)`, which gives two tensors."""
    try:
        values, indices = self._split(_pair_of, (pair, arguments), [size, size])
    except RuntimeError as error:
        blame(name, [self], lambda tensor: pair(tensor, *arguments), error)
        raise
    values._names = indices._names = kept
    return ValuesAndIndices(values, indices)


def _running_pair(name: str, doc: str, function: Function) -> Operation:
    """`cummin` and `cummax`."""

    def method(self: T, dim: Dim) -> ValuesAndIndices[T]:
        return _both(self, name, function, (dimension(self, dim),), self._batch_size, self._names)

    made = documented(method, name, doc)
    return Operation(name, doc, made, (function,), form="running pair")


def _running(name: str, doc: str, function: Function, *others: Function, is_method: bool = True) -> Operation:
    """Operations along one batch dimension that keep its size."""

    @items_become("kept")
    def apply(tensor: Tensor, argument: tuple[int, torch.dtype | None]) -> Tensor:
        dim, dtype = argument
        result: Tensor = function(tensor, dim) if dtype is None else function(tensor, dim, dtype=dtype)
        return result

    def method(self: T, dim: Dim, *, dtype: torch.dtype | None = None) -> T:
        out = rearranged(self, name, apply, (dimension(self, dim), dtype), self._batch_size)
        out._names = self._names
        return out

    made = documented(method, name, doc)

    # What `functional.softmax` has in the third place, it passes by keyword; `torch.softmax` has the dtype there.
    def handler(input: Any, dim: int, dtype: torch.dtype | None = None, *, _stacklevel: int = 3) -> Any:
        return made(input, dim, dtype=dtype)

    return Operation(name, doc, made, (function, *others), handler, form="running", is_method=is_method)


_written = partial(written_out, batch=Effect.DROPS, beyond=Effect.DROPS)
"""An entry for a reduction whose method is written out by hand."""


def _of_norm(input: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if isinstance(p, str) and p != "fro":
        raise ValueError(
            f"norm: expected a number or 'fro', got {p!r}; norms of matrices are those of a field's tensor"
        )
    return norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


functional = torch.nn.functional

REDUCTIONS = (
    _reduction("sum", "The sum.", torch.sum, torch.sum),
    _reduction("mean", "The mean.", torch.mean, torch.mean),
    _reduction("prod", "The product.", over_one(torch.prod), torch.prod),
    _reduction("nansum", "The sum, NaN counted as 0.", torch.nansum, torch.nansum),
    _reduction("nanmean", "The mean, NaN left out.", torch.nanmean, torch.nanmean),
    _reduction("std", "The standard deviation.", spread(torch.std), torch.std, takes="correction"),
    _reduction("var", "The variance.", spread(torch.var), torch.var, takes="correction"),
    _reduction("amin", "The smallest number.", torch.amin, torch.amin, takes=""),
    _reduction("amax", "The largest number.", torch.amax, torch.amax, takes=""),
    _reduction(
        "logsumexp",
        "The logarithm of the sum of exponentials.",
        torch.logsumexp,
        torch.logsumexp,
        torch.special.logsumexp,
        takes="",
    ),
    _extremum("min", "The smallest number and, along one dimension, where it is.", torch.min, torch.amin),
    _extremum("max", "The largest number and, along one dimension, where it is.", torch.max, torch.amax),
    _truth("all", "Whether every number is nonzero.", torch.all, torch.logical_and, True),
    _truth("any", "Whether a number is nonzero.", torch.any, torch.logical_or, False),
    _written(norm, torch.norm, handler=_of_norm, form="reduction norm"),
    _written(quantile, torch.quantile, form="reduction quantile"),
)

RUNNING = (
    _running("cumsum", "The sum so far along a batch dimension.", torch.cumsum),
    _running("cumprod", "The product so far along a batch dimension.", torch.cumprod),
    _running_pair("cummin", "The smallest number so far, and where it was.", torch.cummin),
    _running_pair("cummax", "The largest number so far, and where it was.", torch.cummax),
    _running(
        "softmax",
        "Exponentials that add up to 1 along a batch dimension.",
        torch.softmax,
        functional.softmax,
        torch.special.softmax,
    ),
    _running(
        "log_softmax",
        "",
        torch.log_softmax,
        functional.log_softmax,
        torch.special.log_softmax,
        is_method=False,
    ),
    _running("softmin", "", functional.softmin, is_method=False),
    _running("logcumsumexp", "", torch.logcumsumexp, is_method=False),
)

GROUP = Group(
    "Reductions",
    "`dim` is a batch dimension or a tuple of them. Without it, every tensor is reduced to one number, and the "
    'result has an empty batch size, nested objects included. `dim="feature"` reduces the dimensions that each '
    "field has beyond the batch size. `keepdim=True` keeps reduced dimensions with size 1. `reduce=True` reduces "
    "all fields together, and gives one tensor of the batch size that is left. Without arguments, `all()` and "
    "`any()` return a bool.",
    REDUCTIONS,
    DIMENSION_ERRORS,
)

RUNNING_GROUP = Group(
    "Along a batch dimension",
    "The batch size and the shapes of the tensors stay the same, and torch decides the dtype: a sum of integers is int64. "
    "`dtype=`, where a method has it, is what the tensors are converted to before.",
    RUNNING,
    DIMENSION_ERRORS,
)
