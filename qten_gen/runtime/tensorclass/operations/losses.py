"""Losses of `torch.nn.functional` between two objects, field by field."""

from __future__ import annotations

import sys
from types import CodeType
from typing import TypeVar

from torch import Size, Tensor
from torch.compiler import is_compiling
from torch.nn import functional

from ..core.stored import Stored
from ..fields.per_item import items_become
from ..methods.operands import Function
from .calls import alike, among, operands_of
from .dimensions import level
from .entries import Effect, Group, Operation, documented

T = TypeVar("T", bound=Stored)


def _loss(
    function: Function,
    operands: tuple[str, ...] = ("input", "target"),
    *,
    reductions: tuple[str, ...] = ("none", "mean", "sum"),
) -> Operation:
    """An entry for a loss. Other than with `reduction="none"` every tensor of the result is one number.

    Operands are objects, tensors over the batch and numbers in any mixture; so are the weights.
    """
    name: str = function.__name__

    def method(*args: object, **options: object) -> Stored:
        """The loss of objects, field by field, with reduction `"mean"` by default."""
        stated = {key: value for key, value in options.items() if value is not None}
        if "size_average" in stated or "reduce" in stated:
            raise TypeError(f"{name}: size_average and reduce are not supported; use reduction")
        reduction = stated.get("reduction", "mean")
        if reduction not in reductions:
            raise ValueError(f"{name}: expected a reduction of {', '.join(map(repr, reductions))}, got {reduction!r}")
        weights = [key for key in ("weight", "pos_weight") if key in stated]
        found, settings, left = operands_of(name, (*operands, *weights), args, stated)

        def of_field(*values: Tensor | complex) -> Tensor:
            tensors = alike(values)
            weighted = dict(zip(weights, tensors[len(operands) :], strict=True))
            result: Tensor = function(*tensors[: len(operands)], *settings, **weighted, **left)
            return result

        out = among(name, of_field, found)
        return out if reduction == "none" else _to_numbers(out)

    made = documented(method, name, "")
    return Operation(
        name, "", made, (function,), made, batch=Effect.DROPS, beyond=Effect.DROPS, form="loss", is_method=False
    )


def _to_numbers(out: T) -> T:
    """An object whose tensors have become one number each, with the batch size that is left."""
    made = out._rearrange(_number, None, Size())
    level(made)
    return made


@items_become("reduced")
def _number(tensor: Tensor, argument: None) -> Tensor:
    return tensor


def _passing_weight(loss: Operation) -> Operation:
    """An entry for a function of torch that takes `weight`, but does not pass it on to objects: it is read from the call."""

    def handler(*args: object, **options: object) -> object:
        return loss.method(*args, **{"weight": _weight_in_call(functional.l1_loss.__code__), **options})

    return loss._replace(handler=handler)


def _weight_in_call(code: CodeType) -> object:
    """The argument `weight` of the call of a function that is going on; None where there is none, or in a graph."""
    frame = None if is_compiling() else sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return None if frame is None else frame.f_locals.get("weight")


LOSSES = (
    _loss(functional.mse_loss),
    _passing_weight(_loss(functional.l1_loss)),
    _loss(functional.smooth_l1_loss),
    _loss(functional.huber_loss),
    _loss(functional.binary_cross_entropy),
    _loss(functional.binary_cross_entropy_with_logits),
    _loss(functional.kl_div, reductions=("none", "mean", "sum", "batchmean")),
    _loss(functional.poisson_nll_loss),
    _loss(functional.gaussian_nll_loss, ("input", "target", "var")),
    _loss(functional.soft_margin_loss),
    _loss(functional.hinge_embedding_loss),
    _loss(functional.margin_ranking_loss, ("input1", "input2", "target")),
)

GROUP = Group(
    "Losses",
    "A loss compares two objects, or an object with a tensor or a number, field by field. Unless `reduction` is "
    "`'none'`, every tensor of the result is one number: the loss of that field. Weights over the batch apply to "
    "all dimensions that a field has beyond the batch size.",
    LOSSES,
)
