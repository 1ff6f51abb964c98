"""Functions of torch of one or two numbers that are not methods, `torch.special` among them."""

from __future__ import annotations

import torch
from torch import special
from torch.nn import functional

from ..methods.operands import Function
from .calls import pointwise
from .entries import Effect, Group, Operation


def _special(name: str, doc: str) -> Operation:
    """An entry for a function of one number in `torch.special`."""
    return pointwise(name, doc, getattr(special, name))


def _two(name: str, doc: str, *torch_functions: Function, second: str = "other") -> Operation:
    """An entry for a function of two operands."""
    return pointwise(name, doc, *torch_functions, operands=("input", second))


def _polynomial(name: str, doc: str) -> Operation:
    """An entry for a polynomial of order `n`."""
    return _two(name, doc, getattr(special, name), second="n")


SPECIAL = (
    pointwise("angle", "The angle of a complex number; 0 or pi of a real one.", torch.angle),
    pointwise("sgn", "The sign, or the direction of a complex number.", torch.sgn),
    pointwise("signbit", "Whether the sign is minus.", torch.signbit),
    pointwise("conj", "The complex conjugate.", torch.conj, torch.conj_physical),
    pointwise("real", "The real part.", torch.real),
    pointwise("imag", "The imaginary part.", torch.imag),
    pointwise("resolve_conj", "The value with its conjugation carried out.", torch.resolve_conj),
    pointwise("resolve_neg", "The value with its negation carried out.", torch.resolve_neg),
    pointwise("deg2rad", "Degrees as radians.", torch.deg2rad),
    pointwise("rad2deg", "Radians as degrees.", torch.rad2deg),
    pointwise("nan_to_num", "Other numbers in place of NaN and infinities.", torch.nan_to_num),
    pointwise("sinc", "`sin(pi x) / (pi x)`.", torch.sinc, special.sinc),
    pointwise("logit", "The inverse of the logistic function.", torch.logit, special.logit),
    pointwise("digamma", "The derivative of `lgamma`.", torch.digamma, special.digamma, special.psi),
    pointwise(
        "polygamma",
        "The derivative of order `n` of `digamma`.",
        torch.polygamma,
        special.polygamma,
        operands=("n", "input"),
    ),
    pointwise(
        "mvlgamma", "The logarithm of the gamma function of dimension `p`.", torch.mvlgamma, special.multigammaln
    ),
    pointwise("erfinv", "The inverse error function.", torch.erfinv, special.erfinv),
    _special("erfcx", "`exp(x * x) * erfc(x)`."),
    _special("entr", "`-x log(x)`."),
    _special("ndtr", "The area under the normal distribution up to the value."),
    _special("ndtri", "The inverse of `ndtr`."),
    _special("log_ndtr", "The logarithm of `ndtr`."),
    pointwise("i0", "The modified Bessel function of order 0.", torch.i0, special.i0),
    _special("i0e", "`i0`, scaled by an exponential."),
    _special("i1", "The modified Bessel function of order 1."),
    _special("i1e", "`i1`, scaled by an exponential."),
    _special("airy_ai", "The Airy function."),
    _special("bessel_j0", "The Bessel function of the first kind, of order 0."),
    _special("bessel_j1", "The Bessel function of the first kind, of order 1."),
    _special("bessel_y0", "The Bessel function of the second kind, of order 0."),
    _special("bessel_y1", "The Bessel function of the second kind, of order 1."),
    _special("modified_bessel_i0", "The modified Bessel function of the first kind, of order 0."),
    _special("modified_bessel_i1", "The modified Bessel function of the first kind, of order 1."),
    _special("modified_bessel_k0", "The modified Bessel function of the second kind, of order 0."),
    _special("modified_bessel_k1", "The modified Bessel function of the second kind, of order 1."),
    _special("scaled_modified_bessel_k0", "`modified_bessel_k0`, scaled by an exponential."),
    _special("scaled_modified_bessel_k1", "`modified_bessel_k1`, scaled by an exponential."),
    _special("spherical_bessel_j0", "The spherical Bessel function of order 0."),
    _two("copysign", "The value with the sign of another.", torch.copysign),
    _two("fmax", "The larger of the two, NaN left out.", torch.fmax),
    _two("fmin", "The smaller of the two, NaN left out.", torch.fmin),
    _two("float_power", "The power, in double precision.", torch.float_power, second="exponent"),
    _two("hypot", "The length of a vector of two.", torch.hypot),
    _two(
        "heaviside",
        "0, `values` or 1, where the value is negative, zero or positive.",
        torch.heaviside,
        second="values",
    ),
    _two("ldexp", "The value times a power of two.", torch.ldexp),
    _two("logaddexp", "The logarithm of the sum of two exponentials.", torch.logaddexp),
    _two("logaddexp2", "`logaddexp` to base 2.", torch.logaddexp2),
    _two("nextafter", "The next number towards another.", torch.nextafter),
    _two("gcd", "The greatest common divisor.", torch.gcd),
    _two("lcm", "The least common multiple.", torch.lcm),
    _two("igamma", "The lower incomplete gamma function.", torch.igamma, special.gammainc),
    _two("igammac", "The upper incomplete gamma function.", torch.igammac, special.gammaincc),
    _two("isclose", "Whether the two are close.", torch.isclose),
    _two("xlogy", "`x log(y)`, 0 where x is 0.", torch.xlogy, special.xlogy),
    _two("xlog1py", "`x log1p(y)`, 0 where x is 0.", special.xlog1py),
    _two("zeta", "The Hurwitz zeta function.", special.zeta),
    _polynomial("chebyshev_polynomial_t", "The Chebyshev polynomial of the first kind."),
    _polynomial("chebyshev_polynomial_u", "The Chebyshev polynomial of the second kind."),
    _polynomial("chebyshev_polynomial_v", "The Chebyshev polynomial of the third kind."),
    _polynomial("chebyshev_polynomial_w", "The Chebyshev polynomial of the fourth kind."),
    _polynomial("shifted_chebyshev_polynomial_t", "The shifted Chebyshev polynomial of the first kind."),
    _polynomial("shifted_chebyshev_polynomial_u", "The shifted Chebyshev polynomial of the second kind."),
    _polynomial("shifted_chebyshev_polynomial_v", "The shifted Chebyshev polynomial of the third kind."),
    _polynomial("shifted_chebyshev_polynomial_w", "The shifted Chebyshev polynomial of the fourth kind."),
    _polynomial("hermite_polynomial_h", "The physicist's Hermite polynomial."),
    _polynomial("hermite_polynomial_he", "The probabilist's Hermite polynomial."),
    _polynomial("laguerre_polynomial_l", "The Laguerre polynomial."),
    _polynomial("legendre_polynomial_p", "The Legendre polynomial."),
    pointwise("isin", "Whether the value is among some others.", torch.isin, operands=("elements",)),
    pointwise("bucketize", "Between which of some boundaries the value lies.", torch.bucketize),
    pointwise(
        "one_hot",
        "A dimension of `num_classes` behind the others, 1 at the value.",
        functional.one_hot,
        beyond=Effect.REARRANGES,
    ),
)

GROUP = Group(
    "Special functions",
    "These functions of torch have no method. They apply element by element. A second operand is an object, a "
    "tensor that broadcasts over the batch size or, where torch takes one, a number. At least one operand is an "
    "object.",
    SPECIAL,
)
