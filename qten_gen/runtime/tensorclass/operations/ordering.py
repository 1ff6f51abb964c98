"""Functions of torch along a batch dimension that are not methods: sorting, positions, medians, differences."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from ..core import name_changes
from ..core.sizes import with_length
from ..core.stored import Stored
from ..core.tensor_shapes import Dim, dimension, whole_number
from ..fields.per_item import items_become
from ..methods.operands import Function
from .dimensions import Dims, reduced_size, with_names
from .entries import Effect, Group, Operation, documented
from .reduction_ops import at_quantile, over_one, rearranged, reduced, spread
from .reduction_table import ValuesAndIndices, both, correction_of, pair_of

T = TypeVar("T", bound=Stored)
Item = TypeVar("Item")


class MinAndMax(NamedTuple, Generic[Item]):
    """The result of `torch.aminmax`: the smallest and the largest numbers."""

    min: Item
    max: Item


def entry(
    method: Function,
    *torch_functions: Function,
    doc: str = "",
    batch: Effect = Effect.KEEPS,
    beyond: Effect = Effect.KEEPS,
) -> Operation:
    """An entry for functions of torch that are not methods; `method` has their parameters.

    Args:
        doc: What it does, for the page of the documentation, which has a row for those that rearrange the batch dimensions.
    """
    made = documented(method, method.__name__.lstrip("_"), doc)
    return Operation(made.__name__, doc, made, torch_functions, batch=batch, beyond=beyond, is_method=False)


def _reducing(method: Function, *torch_functions: Function) -> Operation:
    """An entry for a function that reduces batch dimensions, or all dimensions of a tensor."""
    return entry(method, *torch_functions, batch=Effect.DROPS, beyond=Effect.DROPS)


@items_become("put in another order field by field")
def _in_another_order(tensor: Tensor, argument: tuple[Function, tuple[Any, ...]]) -> tuple[Tensor, Tensor]:
    return pair_of(tensor, argument)


def sort(input: T, dim: Dim = -1, descending: bool = False, stable: bool | None = None) -> ValuesAndIndices[T]:
    at = dimension(input, dim)

    def sorted_(tensor: Tensor) -> tuple[Tensor, Tensor]:
        values, indices = torch.sort(tensor, dim=at, descending=descending, stable=bool(stable))
        return values, indices

    return both(input, "sort", sorted_, (), input._batch_size, input._names, _in_another_order)


def argsort(input: T, dim: Dim = -1, descending: bool = False, stable: bool = False) -> T:
    return sort(input, dim, descending, stable).indices


def msort(input: T) -> T:
    return sort(input, 0).values


def topk(input: T, k: int, dim: Dim = -1, largest: bool = True, sorted: bool = True) -> ValuesAndIndices[T]:
    at, count = dimension(input, dim), whole_number(k)
    if not 0 <= count <= input._batch_size[at]:
        raise IndexError(f"topk: expected k from 0 to {input._batch_size[at]}, the size of the dimension, got {count}")
    size = with_length(input._batch_size, at, count)
    return both(input, "topk", torch.topk, (count, at, largest, sorted), size, input._names, _in_another_order)


def kthvalue(input: T, k: int, dim: Dim = -1, keepdim: bool = False) -> ValuesAndIndices[T]:
    return _one_of(input, "kthvalue", torch.kthvalue, (whole_number(k),), dim, keepdim)


def mode(input: T, dim: Dim = -1, keepdim: bool = False) -> ValuesAndIndices[T]:
    return _one_of(input, "mode", torch.mode, (), dim, keepdim)


def _one_of(
    self: T, name: str, function: Function, before: tuple[object, ...], dim: Dim, keepdim: bool
) -> ValuesAndIndices[T]:
    """One number along a dimension, and where it is. `before` are arguments in front of the dimension."""
    at = dimension(self, dim)
    kept = self._names if keepdim else name_changes.without(self._names, (at,))
    size = reduced_size(self._batch_size, (at,), keepdim)
    return both(self, name, function, (*before, at, keepdim), size, kept)


def _middle(name: str, function: Function) -> Function:
    """`median` and `nanmedian`: one number of everything, or along a dimension with its position."""

    def method(input: T, dim: Dim | None = None, keepdim: bool = False) -> T | ValuesAndIndices[T]:
        if dim is None:
            return reduced(input, name, _of_all(function), None, False, {})
        return _one_of(input, name, function, (), dim, keepdim)

    method.__name__ = name
    return method


def _of_all(function: Function) -> Function:
    def applied(tensor: Tensor, dims: tuple[int, ...], keepdim: bool) -> Any:
        return function(tensor)

    return applied


def _position(name: str, function: Function) -> Function:
    """`argmax` and `argmin`: positions along a dimension, or among all numbers of a tensor."""
    joined = over_one(function)

    def method(input: T, dim: Dims = None, keepdim: bool = False) -> T:
        return reduced(input, name, joined, dim, keepdim, {})

    method.__name__ = name
    return method


def aminmax(input: T, *, dim: Dims = None, keepdim: bool = False) -> MinAndMax[T]:
    return MinAndMax(
        reduced(input, "aminmax", torch.amin, dim, keepdim, {}), reduced(input, "aminmax", torch.amax, dim, keepdim, {})
    )


def count_nonzero(input: T, dim: Dims = None) -> T:
    return reduced(input, "count_nonzero", _count_nonzero, dim, False, {})


def _count_nonzero(tensor: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    return torch.count_nonzero(tensor, dims)


def _with_mean(name: str, function: Function) -> Function:
    """`std_mean` and `var_mean`."""

    def method(
        input: T,
        dim: Dims | bool = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> tuple[T, T]:
        found, amount = correction_of(name, dim, unbiased, correction)
        deviation = reduced(input, name, spread(function), found, keepdim, {"correction": amount})
        return deviation, reduced(input, name, torch.mean, found, keepdim, {})

    method.__name__ = name
    return method


def nanquantile(
    input: T, q: float | Tensor, dim: Dims = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> T:
    ranks = tuple(q.shape) if isinstance(q, Tensor) else ()
    options = {"q": q, "interpolation": interpolation}
    return reduced(input, "nanquantile", _nanquantile, dim, keepdim, options, ranks)


_nanquantile = at_quantile(torch.nanquantile)


def diff(input: T, n: int = 1, dim: Dim = -1, prepend: None = None, append: None = None) -> T:
    if prepend is not None or append is not None:
        raise TypeError("diff: prepend and append are not supported; concatenate the objects with torch.cat first")
    at, times = dimension(input, dim), whole_number(n)
    size = with_length(input._batch_size, at, max(input._batch_size[at] - times, 0))
    return with_names(rearranged(input, "diff", _diff, (times, at), size), input._names)


@items_become("subtracted from one another")
def _diff(tensor: Tensor, argument: tuple[int, int]) -> Tensor:
    return torch.diff(tensor, *argument)


ORDERING = (
    entry(sort, torch.sort),
    entry(argsort, torch.argsort),
    entry(msort, torch.msort),
    entry(
        topk,
        torch.topk,
        doc="The `k` largest or smallest numbers, and where they were.",
        batch=Effect.REARRANGES,
    ),
    entry(kthvalue, torch.kthvalue, batch=Effect.DROPS),
    _reducing(_middle("median", torch.median), torch.median),
    _reducing(_middle("nanmedian", torch.nanmedian), torch.nanmedian),
    entry(mode, torch.mode, batch=Effect.DROPS),
    _reducing(_position("argmax", torch.argmax), torch.argmax),
    _reducing(_position("argmin", torch.argmin), torch.argmin),
    _reducing(aminmax, torch.aminmax),
    _reducing(count_nonzero, torch.count_nonzero),
    _reducing(_with_mean("std_mean", torch.std), torch.std_mean),
    _reducing(_with_mean("var_mean", torch.var), torch.var_mean),
    _reducing(nanquantile, torch.nanquantile),
    entry(diff, torch.diff, doc="The differences of neighbours, `n` times over.", batch=Effect.REARRANGES),
)

GROUP = Group(
    "Order and position",
    "Works along one batch dimension, or over all of them if none is given. Each tensor is sorted, and searched, "
    "on its own. Positions and counts are objects with integer tensors.",
    ORDERING,
)
