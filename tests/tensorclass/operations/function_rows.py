"""One row for each function of torch that is not a method: what it is called with, and the same on one tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import special
from torch.nn import functional

from .arguments import OTHER, Row


def number(name: str, *arguments: Any, whole: bool = False, **options: Any) -> Row:
    """A function of one tensor, with settings."""
    function: Callable[..., Any] = next(
        getattr(module, name) for module in (torch, special, functional) if hasattr(module, name)
    )
    return Row(lambda a: function(a, *arguments, **options), arguments, options, whole=whole)


def two(name: str, whole: bool = False) -> Row:
    """A function of two."""
    function = getattr(torch, name, None) or getattr(special, name)
    return Row(function, (OTHER,), whole=whole)


def order(name: str, whole: bool = False) -> Row:
    """A polynomial of order 3."""
    function = getattr(special, name)
    return Row(lambda a: function(a, 3), (3,), whole=whole)


SPECIAL = (
    {
        name: number(name)
        for name in (
            "angle sgn signbit conj real resolve_conj resolve_neg deg2rad rad2deg nan_to_num sinc logit digamma erfinv erfcx "
            "entr ndtr ndtri log_ndtr i0 i0e i1 i1e airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 "
            "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
            "spherical_bessel_j0"
        ).split()
    }
    | {
        name: two(name)
        for name in (
            "copysign fmax fmin float_power hypot heaviside ldexp logaddexp logaddexp2 nextafter igamma igammac isclose xlogy "
            "xlog1py"
        ).split()
    }
    | {
        f"{kind}_polynomial_{letter}": order(f"{kind}_polynomial_{letter}")
        for kind, letters in [
            ("chebyshev", "tuvw"),
            ("shifted_chebyshev", "tuvw"),
            ("laguerre", "l"),
            ("legendre", "p"),
        ]
        for letter in letters
    }
    | {
        "hermite_polynomial_h": order("hermite_polynomial_h"),
        "hermite_polynomial_he": order("hermite_polynomial_he"),
        "mvlgamma": number("mvlgamma", 1),
        "gcd": two("gcd", whole=True),
        "lcm": two("lcm", whole=True),
        "zeta": two("zeta", whole=True),
        "isin": Row(lambda a: torch.isin(a, torch.tensor([2, 3])), (torch.tensor([2, 3]),), whole=True),
        "bucketize": number("bucketize", torch.tensor([0.25, 0.5]), right=True),
        "one_hot": number("one_hot", 8, whole=True),
    }
)

ACTIVATIONS = {
    name: number(name) for name in "relu6 selu mish softsign tanhshrink logsigmoid silu softplus".split()
} | {
    "hardtanh": number("hardtanh", min_val=0.25, max_val=0.5),
    "threshold": number("threshold", 0.5, 7.0),
    "leaky_relu": number("leaky_relu", 0.25),
    "rrelu": number("rrelu", 0.25, 0.5),
    "elu": number("elu", 0.5),
    "celu": number("celu", 0.5),
    "gelu": number("gelu", approximate="tanh"),
    "softshrink": number("softshrink", 0.25),
    "hardshrink": number("hardshrink", 0.25),
    "prelu": number("prelu", torch.tensor([0.25])),
    "dropout": number("dropout", 0.5, False),
    "alpha_dropout": number("alpha_dropout", 0.5, False),
    "bernoulli": Row(lambda a: torch.ones_like(a), (1.0,)),
}

ALONG = {
    "log_softmax": Row(lambda a: torch.log_softmax(a, 1, torch.float64), (1,), {"dtype": torch.float64}),
    "softmin": Row(lambda a: functional.softmin(a, 0), (0,)),
    "logcumsumexp": Row(lambda a: torch.logcumsumexp(a, 1), (-1,)),
}

FUNCTION_ROWS: dict[str, Row] = SPECIAL | ACTIVATIONS | ALONG

WITHOUT_ROW = [
    *"imag polygamma poisson".split(),
    *"allclose equal is_floating_point".split(),
]
"""Functions that the rows do not fit: of other batch sizes or dtypes, or whose result is a bool."""
