"""Activation functions of `torch.nn.functional`, and what makes numbers random, applied to every tensor."""

from __future__ import annotations

import torch
from torch.nn import functional

from .calls import pointwise
from .entries import Group

ACTIVATIONS = (
    pointwise("relu6", "`relu`, 6 at most.", functional.relu6),
    pointwise("hardtanh", "The value between `min_val` and `max_val`.", functional.hardtanh),
    pointwise(
        "threshold", "The value where it is above `threshold`, else `value`.", torch.threshold, functional.threshold
    ),
    pointwise("leaky_relu", "`relu` with a slope where the value is negative.", functional.leaky_relu),
    pointwise("rrelu", "`leaky_relu` with a random slope in training.", functional.rrelu, torch.rrelu),
    pointwise("elu", "The exponential linear unit.", functional.elu),
    pointwise("celu", "`elu` that is smooth for any `alpha`.", functional.celu, torch.celu),
    pointwise("selu", "`elu` that keeps mean and variance.", functional.selu, torch.selu),
    pointwise("gelu", "The Gaussian error linear unit.", functional.gelu),
    pointwise("silu", "The value times its sigmoid.", functional.silu),
    pointwise("mish", "The value times the hyperbolic tangent of its `softplus`.", functional.mish),
    pointwise("softplus", "A smooth `relu`.", functional.softplus),
    pointwise("softsign", "The value divided by 1 plus its absolute value.", functional.softsign),
    pointwise("softshrink", "The value moved towards zero by `lambd`.", functional.softshrink),
    pointwise(
        "hardshrink",
        "The value where it is further than `lambd` from zero, else 0.",
        functional.hardshrink,
        torch.hardshrink,
    ),
    pointwise("tanhshrink", "The value minus its hyperbolic tangent.", functional.tanhshrink),
    pointwise("logsigmoid", "The logarithm of the sigmoid.", functional.logsigmoid),
    pointwise("prelu", "`leaky_relu` whose slope is one number.", functional.prelu, torch.prelu),
    pointwise("dropout", "Random numbers zero, the others larger, in training.", functional.dropout, torch.dropout),
    pointwise(
        "alpha_dropout", "`dropout` that keeps mean and variance.", functional.alpha_dropout, torch.alpha_dropout
    ),
    pointwise("bernoulli", "1 with the value as probability, else 0.", torch.bernoulli),
    pointwise("poisson", "Random counts with the value as rate.", torch.poisson),
)

GROUP = Group(
    "Activations",
    "Applies to every element, like the functions of `torch.nn.functional`. `inplace=True` is refused. Random "
    "numbers are drawn tensor by tensor, in the order of the fields.",
    ACTIVATIONS,
)
