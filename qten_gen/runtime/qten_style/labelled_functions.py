"""The functions of torch that keep the labels of a LabelledTensor, because they leave each dimension where it is."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number

import torch
from torch import Tensor
from torch.nn import functional

_NAMES = """
    abs absolute acos acosh add addcdiv addcmul allclose alpha_dropout and angle arccos arccosh arcsin arcsinh arctan arctan2
    arctanh asin asinh atan atan2 atanh bernoulli bfloat16 bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor bool byte ceil celu char clamp clamp_max clamp_min clip clone complex conj conj_physical
    contiguous copysign cos cosh cpu cuda cumprod cumsum deg2rad detach digamma div divide double dropout elu empty_like eq
    erf erfc erfinv exp exp2 expm1 fix flip float float_power floor floor_divide floordiv fmax fmin fmod frac full_like ge
    gelu greater greater_equal gt half hardshrink hardsigmoid hardswish hardtanh heaviside hypot i0 imag int invert isclose
    isfinite isinf isnan isneginf isposinf isreal ldexp le leaky_relu lerp less less_equal lgamma log log10 log1p log2
    log_softmax logaddexp logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor logit logsigmoid long lt
    masked_fill maximum minimum mish mod mul multiply nan_to_num ne neg negative nextafter normalize not_equal ones_like or
    polar pos positive pow rad2deg rand_like randn_like real reciprocal relu relu6 remainder roll round rrelu rsqrt selu sgn
    short sigmoid sign signbit silu sin sinc sinh softmax softmin softplus softshrink softsign sqrt square sub subtract tan
    tanh tanhshrink threshold to true_divide truediv trunc type_as where xlogy xor zeros_like
""".split()

_WRITTEN = {written for name in _NAMES for written in (name, f"__{name}__", f"__r{name}__")}

# Releases of torch have more of these functions, or fewer.
KEEPS = frozenset(
    getattr(home, name) for home in (torch, Tensor, functional) for name in _WRITTEN.intersection(dir(home))
)
"""Functions of torch and methods of tensors whose result has the dimensions of the argument."""

EQUAL = frozenset({torch.equal, Tensor.equal})
"""The functions that compare two tensors as wholes: with other labels they are not equal."""


def is_number(value: object) -> bool:
    """Return whether a value is a number for arithmetic with tensors; NumPy's count, as they do for tensors."""
    return isinstance(value, Number) or (type(value).__module__ == "numpy" and getattr(value, "shape", None) == ())


def name_of(function: Callable[..., object]) -> str:
    """The name of a function or an operator in messages."""
    return str(getattr(function, "__name__", "operator"))
