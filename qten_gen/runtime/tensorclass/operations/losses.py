"""Losses of `torch.nn.functional` between two objects, field by field."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

import torch
from torch.nn import functional

from ..core.stored import Stored
from ..methods.operands import Function, reflected, two
from .entries import Effect, Group, Operation, documented
from .reduction_ops import reduced

T = TypeVar("T", bound=Stored)


def _loss(name: str, doc: str, function: Function) -> Operation:
    """An entry for a loss. Other than with `reduction="none"` every tensor of the result is one number."""

    def method(
        input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **rest: Any
    ) -> Any:
        if size_average is not None or reduce is not None:
            raise TypeError(f"{name}: size_average and reduce are not supported; use reduction")
        applied = partial(function, reduction="none", **rest)
        self, other = (target, input) if hasattr(input, "dim") and not isinstance(input, Stored) else (input, target)
        out = two(self, applied if self is input else reflected(applied), other, name)
        return out if reduction == "none" else reduced(out, name, _REDUCTIONS[reduction], None, False, {})

    return Operation(
        name, doc, documented(method, name, doc), (function,), batch=Effect.DROPS, beyond=Effect.DROPS, is_method=False
    )


_REDUCTIONS = {"mean": torch.mean, "sum": torch.sum}

LOSSES = (
    _loss("mse_loss", "The squared difference.", functional.mse_loss),
    _loss("l1_loss", "The absolute difference.", functional.l1_loss),
    _loss(
        "smooth_l1_loss", "The squared difference where it is small, else the absolute one.", functional.smooth_l1_loss
    ),
)

GROUP = Group(
    "Losses",
    "Between two objects, or an object and a tensor or number; field by field. Unless `reduction` is `'none'`, "
    "every tensor of the result is one number.",
    LOSSES,
)
