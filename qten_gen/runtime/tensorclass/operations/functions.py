"""Functions of one tensor, applied to every tensor."""

from __future__ import annotations

import torch
from torch import Tensor

from ..methods.operands import Function
from . import methods
from .entries import Group, Operation, documented


def _unary(name: str, doc: str, *, torch_functions: tuple[Function, ...] = (), is_method: bool = True) -> Operation:
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
        in_place=twin and documented(methods.unary_in_place(twin, f"{name}_"), f"{name}_", f"`{name}`, in place."),
        form="unary",
        is_method=is_method,
    )


FUNCTIONS = (
    _unary("abs", "The absolute value.", torch_functions=(torch.absolute,)),
    _unary("neg", "The negative.", torch_functions=(torch.negative,)),
    _unary("sign", "-1, 0 or 1."),
    _unary("reciprocal", "One divided by the value."),
    _unary("sqrt", "The square root."),
    _unary("rsqrt", "One divided by the square root.", is_method=False),
    _unary("square", "The value times itself.", is_method=False),
    _unary("exp", "e to the power of the value."),
    _unary("exp2", "Two to the power of the value.", is_method=False),
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
    _unary("asinh", "The inverse hyperbolic sine.", torch_functions=(torch.arcsinh,), is_method=False),
    _unary("acosh", "The inverse hyperbolic cosine.", torch_functions=(torch.arccosh,), is_method=False),
    _unary("atanh", "The inverse hyperbolic tangent.", torch_functions=(torch.arctanh,), is_method=False),
    _unary("sigmoid", "The logistic function.", torch_functions=(torch.special.expit,)),
    _unary(
        "relu", "The value where it is positive, else 0.", torch_functions=(torch.nn.functional.relu,), is_method=False
    ),
    _unary("erf", "The error function."),
    _unary("erfc", "One minus the error function."),
    _unary("lgamma", "The logarithm of the gamma function.", torch_functions=(torch.special.gammaln,)),
    _unary("ceil", "Rounded up."),
    _unary("floor", "Rounded down."),
    _unary("trunc", "Rounded towards zero.", torch_functions=(torch.fix,)),
    _unary("frac", "What `trunc` takes away."),
    _unary("isfinite", "Whether the value is neither infinite nor NaN."),
    _unary("isinf", "Whether the value is infinite.", is_method=False),
    _unary("isnan", "Whether the value is NaN."),
    _unary("isposinf", "Whether the value is infinity."),
    _unary("isneginf", "Whether the value is negative infinity."),
    _unary("isreal", "Whether the value has no imaginary part."),
    _unary("logical_not", "Whether the value is zero.", is_method=False),
)

GROUP = Group(
    "Functions",
    "Applies to every element of every tensor. Shapes stay the same, and torch decides the dtype.",
    FUNCTIONS,
    ("RuntimeError: torch has no such function for the dtype of a field, which the error names",),
)
