"""One row for each operation of the table: what it is called with, and the same on one tensor of a batch of size (2, 3).

The rows of operations that are called alike are made of the table. Those below are for the others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import special
from torch.nn import functional

from qten_gen.runtime.tensorclass.operations.entries import Operation
from qten_gen.runtime.tensorclass.operations.table import OPERATIONS

from .arguments import OTHER, Row, beyond, over

MASK = torch.tensor([[True, False, True], [False, False, True]])
INDEX = torch.tensor([[2, 0], [1, 1]])

WHOLE = frozenset(
    """
    __and__ __or__ __xor__ __lshift__ __rshift__ __eq__ __ne__ __invert__ bitwise_and bitwise_or bitwise_xor
    bitwise_left_shift bitwise_right_shift gcd lcm zeta
    """.split()
)
"""Operations that are called with whole numbers, because torch takes no others, or because no others are ever equal."""


def made(operation: Operation) -> Row | None:
    """The row of an operation that is called as others of its form."""
    name, whole = operation.name, operation.name in WHOLE
    match operation.form:
        case "unary" | "operator" | "comparison" if name.startswith("__"):
            return Row(getattr(operator, name), () if operation.form == "unary" else (OTHER,), whole=whole)
        case "reflected":
            left = f"__{name.removeprefix('__r')}"
            first = 6 if left in WHOLE else 2
            return Row(lambda a: getattr(operator, left)(first, a), (first,), whole=left in WHOLE)
        case "cast":
            return Row(lambda a: a.to(getattr(torch, name)))
        case "unary" | "function of 1":
            return Row(function(name))
        case "function of 2" if "polynomial" in name:
            return Row(lambda a: getattr(special, name)(a, 3), (3,))
        case "binary" | "function of 2":
            return Row(function(name), (OTHER,), whole=whole)
    return None


def function(name: str) -> Callable[..., Any]:
    """A function of torch."""
    found: Callable[..., Any] = next(
        getattr(module, name) for module in (torch, special, functional) if hasattr(module, name)
    )
    return found


def number(name: str, *arguments: Any, whole: bool = False, **options: Any) -> Row:
    """A function of one tensor, with settings."""
    return Row(lambda a: function(name)(a, *arguments, **options), arguments, options, whole=whole)


ARITHMETIC = {
    "add": Row(lambda a, b: torch.add(a, b, alpha=3), (OTHER,), {"alpha": 3}),
    "sub": Row(lambda a, b: torch.sub(a, b, alpha=3), (OTHER,), {"alpha": 3}),
    "rsub": Row(torch.rsub, (OTHER,)),
    "mul": Row(lambda a: a * over(MASK, a), (MASK,)),
    "div": Row(lambda a, b: torch.div(a, b, rounding_mode="floor"), (OTHER,), {"rounding_mode": "floor"}),
    "pow": Row(lambda a: a**3, (3,)),
    "clamp_min": Row(lambda a: a.clamp(min=0.5), (0.5,)),
    "addcmul": Row(lambda a, b, c: torch.addcmul(a, b, c, value=2), (OTHER, OTHER), {"value": 2}),
    "addcdiv": Row(lambda a, b: torch.addcdiv(a, b, over(MASK + 1, a)), (OTHER, MASK + 1)),
    "lerp": Row(lambda a, b: torch.lerp(a, b, 0.25), (OTHER, 0.25)),
    "clamp": Row(lambda a, b: torch.clamp(torch.clamp_min(a, b), max=0.75), (OTHER, 0.75)),
    "round": Row(lambda a: torch.round(a, decimals=1), (), {"decimals": 1}),
    "fill_": Row(lambda a: torch.full_like(a, 3), (3,)),
    "zero_": Row(torch.zeros_like),
}


def reduction(function: Callable[..., Any], *arguments: Any, **options: Any) -> Row:
    """A reduction over the first batch dimension."""
    return Row(function, arguments, options | {"dim": 0}, (3,))


REDUCTIONS = {
    "sum": Row(lambda a: a.sum((0, 1), dtype=torch.float64), ((0, 1),), {"dtype": torch.float64}, ()),
    "mean": Row(lambda a: a.mean(1, keepdim=True), (-1, True), batch_size=(2, 1)),
    "prod": reduction(lambda a: a.prod(0)),
    "nansum": Row(lambda a: a.nansum(), batch_size=(), leveled=True),
    "nanmean": reduction(lambda a: a.nanmean(0)),
    "std": reduction(lambda a: a.std(0, correction=0), correction=0),
    "var": Row(lambda a: a.var((0, 1), keepdim=True), ((0, 1),), {"keepdim": True}, (1, 1)),
    "amin": Row(lambda a: a.amin((0, 1)), ((1, 0),), batch_size=()),
    "amax": reduction(lambda a: a.amax(0)),
    "logsumexp": Row(lambda a: a.logsumexp((0, 1)), ((0, 1),), batch_size=()),
    "min": Row(lambda a: a.min(), batch_size=(), leveled=True),
    "max": reduction(lambda a: tuple(a.max(0))),
    "all": reduction(lambda a: a.all(0)),
    "any": Row(lambda a: a.any(1, keepdim=True), (1, True), batch_size=(2, 1)),
    "norm": reduction(lambda a: a.abs().sum(0), 1),
    "cumsum": Row(lambda a: a.cumsum(1), (1,)),
    "cumprod": Row(lambda a: a.cumprod(0), (0,)),
    "cummin": Row(lambda a: tuple(a.cummin(1)), (1,)),
    "cummax": Row(lambda a: tuple(a.cummax(0)), (-2,)),
    "softmax": Row(lambda a: a.softmax(1), (-1,)),
}

ARRANGED = {
    "reshape": Row(lambda a: a.reshape(6, *beyond(a)), ((6,),), batch_size=(6,)),
    "view": Row(lambda a: a.view(3, 2, *beyond(a)), (3, -1), batch_size=(3, 2)),
    "flatten": Row(lambda a: a.flatten(0, 1), batch_size=(6,)),
    "unflatten": Row(lambda a: a.unflatten(1, (1, 3)), (1, (1, -1)), batch_size=(2, 1, 3)),
    "permute": Row(lambda a: a.transpose(0, 1), ((1, 0),), batch_size=(3, 2)),
    "transpose": Row(lambda a: a.transpose(0, 1), (0, -1), batch_size=(3, 2)),
    "movedim": Row(lambda a: a.movedim(0, 1), (0, -1), batch_size=(3, 2)),
    "squeeze": Row(lambda a: a, (), batch_size=(2, 3)),
    "unsqueeze": Row(lambda a: a.unsqueeze(2), (-1,), batch_size=(2, 3, 1)),
    "expand": Row(lambda a: a.expand(4, *a.shape), ((4, -1, -1),), batch_size=(4, 2, 3)),
    "repeat": Row(lambda a: torch.cat([torch.cat([a, a])[None]] * 3), (3, 2, 1), batch_size=(3, 4, 3)),
    "repeat_interleave": Row(
        lambda a: torch.repeat_interleave(a, torch.tensor([2, 0, 1]), 1),
        (torch.tensor([2, 0, 1]), 1),
        batch_size=(2, 3),
    ),
    "roll": Row(lambda a: torch.roll(a, (1, -1), (0, 1)), ((1, -1), (0, 1))),
    "flip": Row(lambda a: torch.flip(a, (0, 1)), ((0, 1),)),
    "pad": Row(
        lambda a: torch.nn.functional.pad(a, [0, 0] * (a.dim() - 2) + [0, 2, 1, 0], value=7),
        ((1, 0, 0, 2), 7),
        batch_size=(3, 5),
    ),
    "split": Row(lambda a: torch.split(a, 2, 1), (2, 1)),
    "chunk": Row(lambda a: torch.chunk(a, 2), (2,)),
    "unbind": Row(lambda a: torch.unbind(a, 1), (1,)),
    "gather": Row(lambda a: torch.stack([a[0, [2, 0]], a[1, [1, 1]]]), (1, INDEX), batch_size=(2, 2)),
    "masked_fill": Row(lambda a: a.masked_fill(over(MASK, a), 7.0), (MASK, 7.0)),
    "masked_fill_": Row(lambda a: a.masked_fill(over(MASK, a), 7.0), (MASK, 7.0)),
    "where": Row(lambda a, b: torch.where(over(MASK, a), a, b), (MASK, OTHER)),
    "new_zeros": Row(lambda a: a.new_zeros(4, *beyond(a)), (4,), batch_size=(4,)),
    "new_ones": Row(lambda a: a.new_ones(4, 1, *beyond(a)), ((4, 1),), batch_size=(4, 1)),
    "new_full": Row(lambda a: a.new_full((4, *beyond(a)), 5), ((4,), 5), batch_size=(4,)),
}

DTYPES = {
    "float32": Row(lambda a: a, whole=True),
    "bool": Row(lambda a: a.bool(), whole=True),
}

COPIES = {
    "clone": Row(lambda a: a),
    "detach": Row(lambda a: a),
    "detach_": Row(lambda a: a),
    "contiguous": Row(lambda a: a),
}

FUNCTIONS = {
    "mvlgamma": number("mvlgamma", 1),
    "isin": Row(lambda a: torch.isin(a, torch.tensor([2, 3])), (torch.tensor([2, 3]),), whole=True),
    "bucketize": number("bucketize", torch.tensor([0.25, 0.5]), right=True),
    "one_hot": number("one_hot", 8, whole=True),
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

WITHOUT_ROW = "stack cat zeros_like ones_like empty_like full_like rand_like randn_like new_empty".split() + (
    "imag polygamma poisson allclose equal".split()
)
"""Operations that rows do not fit: called on the class, of other batch sizes or dtypes, random, or whose result is a bool."""

WRITTEN: dict[str, Row] = ARITHMETIC | REDUCTIONS | ARRANGED | DTYPES | COPIES | FUNCTIONS | ALONG

ROWS: dict[str, Row] = {
    operation.name: row
    for operation in OPERATIONS
    if operation.name not in WITHOUT_ROW and (row := WRITTEN.get(operation.name) or made(operation)) is not None
}
