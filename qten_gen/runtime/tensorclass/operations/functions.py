"""Functions of one tensor, applied to every tensor."""

from __future__ import annotations

import torch
from torch import Tensor

from ..methods.operands import Function
from . import methods
from .entries import Group, Operation, documented


def _unary(name: str, doc: str, *, torch_functions: tuple[Function, ...] = ()) -> Operation:
    """An entry for a function of one tensor that torch has under the same name, and its twin where torch has one."""
    function: Function = getattr(torch, name)
    also: Function | None = getattr(torch.special, name, None)
    twin: Function | None = getattr(Tensor, f"{name}_", None)
    made = documented(methods.unary(function, name), name, doc)
    return Operation(
        name,
        doc,
        made,
        torch_functions=(function, *torch_functions, *([] if also is None else [also])),
        in_place=twin and methods.in_place(methods.unary, twin, name),
        form="unary",
    )


FUNCTIONS = (
    _unary("abs", "The absolute value.", torch_functions=(torch.absolute,)),
    _unary("neg", "The negative.", torch_functions=(torch.negative,)),
    _unary("sign", "-1, 0 or 1."),
    _unary("reciprocal", "One divided by the value."),
    _unary("sqrt", "The square root."),
    _unary("exp", "e to the power of the value."),
    _unary("expm1", "`exp(x) - 1`, exact near zero."),
    _unary("log", "The natural logarithm."),
    _unary("log2", "The logarithm to base 2."),
    _unary("log10", "The logarithm to base 10."),
    _unary("log1p", "`log(1 + x)`, exact near zero."),
    _unary("sin", "The sine."),
    _unary("cos", "The cosine."),
    _unary("tan", "The tangent."),
    _unary("asin", "The inverse sine.", torch_functions=(torch.arcsin,)),
    _unary("acos", "The inverse cosine.", torch_functions=(torch.arccos,)),
    _unary("atan", "The inverse tangent.", torch_functions=(torch.arctan,)),
    _unary("sinh", "The hyperbolic sine."),
    _unary("cosh", "The hyperbolic cosine."),
    _unary("tanh", "The hyperbolic tangent."),
    _unary("sigmoid", "The logistic function.", torch_functions=(torch.special.expit,)),
    _unary("erf", "The error function."),
    _unary("erfc", "One minus the error function."),
    _unary("lgamma", "The logarithm of the gamma function.", torch_functions=(torch.special.gammaln,)),
    _unary("ceil", "Rounded up."),
    _unary("floor", "Rounded down."),
    _unary("trunc", "Rounded towards zero.", torch_functions=(torch.fix,)),
    _unary("frac", "What `trunc` takes away."),
    _unary("isfinite", "Whether the value is neither infinite nor NaN."),
    _unary("isnan", "Whether the value is NaN."),
    _unary("isposinf", "Whether the value is infinity."),
    _unary("isneginf", "Whether the value is negative infinity."),
    _unary("isreal", "Whether the value has no imaginary part."),
)

GROUP = Group(
    "Functions",
    "Applies to every element of every tensor. Shapes stay the same, and torch decides the dtype.",
    FUNCTIONS,
    ("RuntimeError: torch has no such function for the dtype of a field, which the error names",),
)
