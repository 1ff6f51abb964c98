"""Functions of torch, number by number, and questions about whole objects."""

from __future__ import annotations

import torch
from torch import Tensor, special
from torch.nn import functional

from ..core.contents import contents
from ..core.error_text import describe
from ..core.stored import Stored
from ..fields import same_values
from ..methods.operands import Function
from .entries import Effect, Group, Operation, among, pointwise
from .reductions import truth

_ALSO: dict[str, tuple[Function, ...]] = {
    "abs": (torch.absolute,),
    "neg": (torch.negative,),
    "asin": (torch.arcsin,),
    "acos": (torch.arccos,),
    "atan": (torch.arctan,),
    "sigmoid": (special.expit,),
    "lgamma": (special.gammaln,),
    "trunc": (torch.fix,),
    "round": (special.round,),
    "acosh": (torch.arccosh,),
    "asinh": (torch.arcsinh,),
    "atanh": (torch.arctanh,),
    "conj": (torch.conj_physical,),
    "digamma": (special.psi,),
    "igamma": (special.gammainc,),
    "igammac": (special.gammaincc,),
    "mvlgamma": (special.multigammaln,),
}
"""Functions that mean the same under another name."""


def _named(names: str, *operands: str) -> tuple[Operation, ...]:
    """Entries for functions by their names. `operands` may be objects; it is the first argument alone by default."""
    return tuple(pointwise(name, "", *_functions(name), operands=operands or ("input",)) for name in names.split())


def _functions(name: str) -> tuple[Function, ...]:
    """The functions of a name in `nn.functional`, `torch` and `torch.special`: the first is applied, the others mean the same."""
    # `functional.tanh` and `sigmoid` call a method of their argument.
    homes = (torch, special) if name in ("tanh", "sigmoid") else (functional, torch, special)
    found: list[Function] = [getattr(home, name) for home in homes if hasattr(home, name)]
    return tuple(dict.fromkeys([*found, *_ALSO.get(name, ())]))


FUNCTIONS = (
    *_named("""
        abs neg sign reciprocal sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh sigmoid erf erfc
        lgamma ceil floor trunc frac round isfinite isnan isposinf isneginf isreal
        rsqrt square exp2 asinh acosh atanh relu isinf logical_not angle sgn signbit conj real imag resolve_conj resolve_neg
        deg2rad rad2deg nan_to_num sinc logit digamma mvlgamma erfinv erfcx entr ndtr ndtri log_ndtr i0 i0e i1 i1e airy_ai
        bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
        scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 bucketize
    """),
    *_named("isin", "elements"),
    *_named("polygamma", "n", "input"),
    *_named(
        """
        copysign fmax fmin hypot ldexp logaddexp logaddexp2 nextafter gcd lcm igamma igammac isclose xlogy xlog1py zeta
        """,
        "input",
        "other",
    ),
    *_named("float_power", "input", "exponent"),
    *_named("heaviside", "input", "values"),
    *_named(
        """
        chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
        shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
        shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p
        """,
        "input",
        "n",
    ),
    pointwise(
        "one_hot",
        "A dimension of `num_classes` behind the others, 1 at the value.",
        functional.one_hot,
        beyond=Effect.REARRANGES,
    ),
)

GROUP = Group(
    "Functions",
    "These functions apply element by element. Shapes stay the same, and torch decides the dtype. A second operand is as for "
    "operators, where torch takes it.",
    FUNCTIONS,
)

ACTIVATIONS = _named("""
    relu6 hardtanh threshold leaky_relu rrelu elu celu selu gelu silu mish softplus softsign softshrink hardshrink tanhshrink
    logsigmoid prelu dropout alpha_dropout bernoulli poisson
""")

ACTIVATION_GROUP = Group(
    "Activations",
    "These apply to every element. Random numbers are drawn tensor by tensor, in the order of the fields.",
    ACTIVATIONS,
)


def allclose(
    input: Stored | Tensor, other: Stored | Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """True if all numbers are close to the numbers of another object, or of a tensor over the batch."""
    found = among("allclose", torch.isclose, (input, other), rtol, atol, equal_nan)
    return truth([tensor.all() for tensor in found._leaves()], torch.logical_and, True)


def equal(input: object, other: object) -> bool:
    """True if two objects are of one class and batch size, and hold equal tensors and static values."""
    for each in (input, other):
        if not isinstance(each, Stored):
            raise TypeError(f"equal: expected two objects, got {describe(each)}")
    return _are_equal(input, other)


def _are_equal(one: object, other: object) -> bool:
    """True if two objects, or what they hold in a field, are the same."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if not isinstance(one, Stored) or type(other) is not type(one) or not isinstance(other, Stored):
        return one is None and other is None
    if one._batch_size != other._batch_size:
        return False
    mine, theirs = contents(one), contents(other)
    return all(
        same_values.equal(mine[name], theirs[name]) if name in one._static else _are_equal(mine[name], theirs[name])
        for name in mine
    )


def _answer(method: Function, function: Function) -> Operation:
    return Operation(method.__name__, "", method, (function,), method, is_method=False)


COMPARING_GROUP = Group(
    "Comparing objects",
    "The result is a bool.",
    (
        _answer(allclose, torch.allclose),
        _answer(equal, torch.equal),
    ),
)
