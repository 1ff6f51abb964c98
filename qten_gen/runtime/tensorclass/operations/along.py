"""Functions of torch along batch dimensions that are not methods, all in one way: sorting, positions, medians, differences.

A call has torch's own arguments, and its dimensions are batch dimensions. What becomes of the batch size is what the function
makes of a tensor of that size on meta.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Size, Tensor

from ..core import name_changes
from ..core.error_context import blame
from ..core.names import Names
from ..core.stored import Stored
from ..core.tensor_shapes import dimension, is_single
from ..fields.per_item import items_become
from ..methods.operands import Function
from .dimensions import batch_dimensions, level
from .entries import Effect, Group, Operation, documented

_MOVES_ITEMS = (torch.index_select,)
"""The functions that do the same to the Python values of items. What others give is different for each field."""


def _moved(tensor: Tensor, argument: tuple[Function, dict[str, Any]]) -> Any:
    function, given = argument
    return function(tensor, **given)


@items_become("computed field by field")
def _computed(tensor: Tensor, argument: tuple[Function, dict[str, Any]]) -> Any:
    return _moved(tensor, argument)


def _along(name: str, parameters: str, batch: Effect, doc: str = "") -> Operation:
    """An entry for a function of `torch`.

    Args:
        parameters: Those behind `input` that torch takes by position. A `dim` that may be left out, and then is not all of
            them, has its default.
        doc: What it does, for the page of the documentation, which has a row for those that rearrange the batch dimensions.
    """
    function: Function = getattr(torch, name)
    names = parameters.replace("=-1", "").split()
    default = -1 if "dim=-1" in parameters else None
    step = _moved if function in _MOVES_ITEMS else _computed

    def method(*args: object, **options: Any) -> Any:
        """The function for an object: one object, or a tuple of them where torch gives one of tensors."""
        self, given = _bound(name, ["input", *names], args, options)
        if type(given.get("dim")) is bool:  # `torch.std_mean(batch, False)`
            given["unbiased"] = given.pop("dim")
        dim = given.pop("dim", default)
        if dim is not None:
            given["dim"] = dimension(self, dim) if is_single(dim) else batch_dimensions(self, dim, name)
        found = _applied(self, name, step, function, given)
        if dim is None and batch is Effect.DROPS:
            for out in found if isinstance(found, tuple) else (found,):
                level(out)
        return found

    made = documented(method, name, doc)
    beyond = Effect.DROPS if batch is Effect.DROPS else Effect.KEEPS
    return Operation(name, doc, made, (function,), made, batch=batch, beyond=beyond, is_method=False)


def _applied(self: Stored, name: str, step: Function, function: Function, given: dict[str, Any]) -> Any:
    """The function of every tensor, with the batch size that it makes of this one.

    Raises:
        RuntimeError: torch refuses a tensor; the field is named.
    """
    on_meta = {key: value.to("meta") if isinstance(value, Tensor) else value for key, value in given.items()}
    expected = function(torch.empty(self._batch_size, device="meta"), **on_meta)
    sizes = [expected.shape] if isinstance(expected, Tensor) else [one.shape for one in expected]
    try:
        if isinstance(expected, Tensor):
            found = [self._rearrange(step, (function, given), sizes[0])]
        else:
            found = [*self._split(step, (function, given), sizes)]
    except RuntimeError as error:
        blame(name, self, lambda tensor: _moved(tensor, (function, given)), error)
        raise
    for out, size in zip(found, sizes, strict=True):
        out._names = _names(self, size, given.get("dim"))
    return found[0] if isinstance(expected, Tensor) else type(expected)(found)


def _bound(
    name: str, names: list[str], args: tuple[object, ...], options: dict[str, Any]
) -> tuple[Stored, dict[str, Any]]:
    """The object, and the other arguments of a call by name.

    Raises:
        TypeError: there are too many, or an object stands where none may.
    """
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & options.keys():
        raise TypeError(f"{name}: expected {', '.join(names)} by position, got {len(args)} arguments")
    given |= options
    self = given.pop("input", None)
    if not isinstance(self, Stored) or any(isinstance(value, Stored) for value in given.values()):
        raise TypeError(f"{name} takes an object for 'input' only; pass the tensors, with .apply or field by field")
    return self, given


def _names(self: Stored, size: Size, dim: Any) -> Names | None:
    """The names of the batch dimensions afterwards."""
    if self._names is None or len(size) == len(self._batch_size):
        return self._names
    dropped = (dim,) if isinstance(dim, int) else dim
    return name_changes.without(self._names, dropped) if dropped and size else None


GROUP = Group(
    "Order and position",
    "Works along one batch dimension, or over all of them if none is given. Each tensor is sorted, and searched, "
    "on its own. Positions and counts are objects with integer tensors.",
    (
        _along("sort", "dim=-1 descending", Effect.KEEPS),
        _along("argsort", "dim=-1 descending stable", Effect.KEEPS),
        _along("msort", "", Effect.KEEPS),
        _along(
            "topk",
            "k dim=-1 largest sorted",
            Effect.REARRANGES,
            "The `k` largest or smallest numbers, and where they were.",
        ),
        _along("kthvalue", "k dim=-1 keepdim", Effect.DROPS),
        _along("median", "dim keepdim", Effect.DROPS),
        _along("nanmedian", "dim keepdim", Effect.DROPS),
        _along("mode", "dim=-1 keepdim", Effect.DROPS),
        _along("argmax", "dim keepdim", Effect.DROPS),
        _along("argmin", "dim keepdim", Effect.DROPS),
        _along("aminmax", "", Effect.DROPS),
        _along("count_nonzero", "dim", Effect.DROPS),
        _along("std_mean", "dim unbiased keepdim", Effect.DROPS),
        _along("var_mean", "dim unbiased keepdim", Effect.DROPS),
        _along("diff", "n dim=-1", Effect.REARRANGES, "The differences of neighbours, `n` times over."),
        _along("index_select", "dim index", Effect.REARRANGES, "The items at some positions along a batch dimension."),
        _along("index_fill", "dim index value", Effect.KEEPS),
    ),
)
