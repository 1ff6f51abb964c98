"""One row for each operation of the table: what it is called with, and the same on one tensor of a batch of size (2, 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .arguments import OTHER, Row, beyond, over
from .function_rows import FUNCTION_ROWS


def plain(name: str) -> Row:
    """A function of one tensor."""
    return Row(getattr(torch, name))


def binary(function: Callable[..., Any], whole: bool = False) -> Row:
    """A function of two."""
    return Row(function, (OTHER,), whole=whole)


MASK = torch.tensor([[True, False, True], [False, False, True]])
INDEX = torch.tensor([[2, 0], [1, 1]])

FUNCTIONS = {
    name: plain(name)
    for name in (
        "abs neg sign reciprocal sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh sigmoid "
        "erf erfc lgamma ceil floor trunc frac isfinite isnan isposinf isneginf isreal rsqrt square exp2 asinh atanh "
        "relu isinf logical_not"
    ).split()
} | {"acosh": Row(torch.acosh)}

OPERATORS = {
    "__add__": binary(lambda a, b: a + b),
    "__radd__": Row(lambda a: 2 + a, (2,)),
    "__sub__": binary(lambda a, b: a - b),
    "__rsub__": Row(lambda a: 2 - a, (2,)),
    "__mul__": binary(lambda a, b: a * b),
    "__rmul__": Row(lambda a: 2 * a, (2,)),
    "__truediv__": binary(lambda a, b: a / b),
    "__rtruediv__": Row(lambda a: 2 / a, (2,)),
    "__floordiv__": binary(lambda a, b: a // b),
    "__rfloordiv__": Row(lambda a: 2 // a, (2,)),
    "__mod__": binary(lambda a, b: a % b),
    "__rmod__": Row(lambda a: 2 % a, (2,)),
    "__pow__": binary(lambda a, b: a**b),
    "__rpow__": Row(lambda a: 2**a, (2,)),
    "__and__": binary(lambda a, b: a & b, whole=True),
    "__rand__": Row(lambda a: 6 & a, (6,), whole=True),
    "__or__": binary(lambda a, b: a | b, whole=True),
    "__ror__": Row(lambda a: 6 | a, (6,), whole=True),
    "__xor__": binary(lambda a, b: a ^ b, whole=True),
    "__rxor__": Row(lambda a: 6 ^ a, (6,), whole=True),
    "__lshift__": binary(lambda a, b: a << b, whole=True),
    "__rlshift__": Row(lambda a: 6 << a, (6,), whole=True),
    "__rshift__": binary(lambda a, b: a >> b, whole=True),
    "__rrshift__": Row(lambda a: 6 >> a, (6,), whole=True),
    "__eq__": binary(lambda a, b: a == b, whole=True),
    "__ne__": binary(lambda a, b: a != b, whole=True),
    "__lt__": binary(lambda a, b: a < b),
    "__le__": binary(lambda a, b: a <= b),
    "__gt__": binary(lambda a, b: a > b),
    "__ge__": binary(lambda a, b: a >= b),
    "__neg__": Row(lambda a: -a),
    "__pos__": Row(lambda a: +a),
    "__abs__": Row(lambda a: abs(a)),
    "__invert__": Row(lambda a: ~a, whole=True),
}

ARITHMETIC = {
    "add": Row(lambda a, b: torch.add(a, b, alpha=3), (OTHER,), {"alpha": 3}),
    "sub": Row(lambda a, b: torch.sub(a, b, alpha=3), (OTHER,), {"alpha": 3}),
    "rsub": binary(torch.rsub),
    "mul": Row(lambda a: a * over(MASK, a), (MASK,)),
    "div": Row(lambda a, b: torch.div(a, b, rounding_mode="floor"), (OTHER,), {"rounding_mode": "floor"}),
    "mod": binary(torch.remainder),
    "pow": Row(lambda a: a**3, (3,)),
    "maximum": binary(torch.maximum),
    "minimum": binary(torch.minimum),
    "clamp_min": Row(lambda a: a.clamp(min=0.5), (0.5,)),
    "clamp_max": binary(torch.clamp_max),
    "bitwise_and": binary(torch.bitwise_and, whole=True),
    "logical_and": binary(torch.logical_and),
    "floor_divide": binary(torch.floor_divide),
    "bitwise_or": binary(torch.bitwise_or, whole=True),
    "bitwise_xor": binary(torch.bitwise_xor, whole=True),
    "bitwise_left_shift": binary(torch.bitwise_left_shift, whole=True),
    "bitwise_right_shift": binary(torch.bitwise_right_shift, whole=True),
    "logical_or": binary(torch.logical_or),
    "logical_xor": binary(torch.logical_xor),
    "fmod": binary(torch.fmod),
    "atan2": binary(torch.atan2),
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
    "quantile": Row(
        lambda a: a.quantile(torch.tensor([0.25, 0.5]), 1), (torch.tensor([0.25, 0.5]), 1), batch_size=(2, 2)
    ),
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
    "swapaxes": Row(lambda a: a.transpose(0, 1), (0, 1), batch_size=(3, 2)),
    "swapdims": Row(lambda a: a.transpose(0, 1), (1, 0), batch_size=(3, 2)),
    "movedim": Row(lambda a: a.movedim(0, 1), (0, -1), batch_size=(3, 2)),
    "moveaxis": Row(lambda a: a.movedim((0, 1), (1, 0)), ((0, 1), (1, 0)), batch_size=(3, 2)),
    "squeeze": Row(lambda a: a, (), batch_size=(2, 3)),
    "unsqueeze": Row(lambda a: a.unsqueeze(2), (-1,), batch_size=(2, 3, 1)),
    "expand": Row(lambda a: a.expand(4, *a.shape), (4, -1, -1), batch_size=(4, 2, 3)),
    "expand_as": Row(lambda a: a.expand(4, *a.shape), (torch.ones(4, 2, 3),), batch_size=(4, 2, 3)),
    "broadcast_to": Row(lambda a: a.expand(4, *a.shape), ((4, 2, 3),), batch_size=(4, 2, 3)),
    "atleast_1d": Row(lambda a: a),
    "atleast_2d": Row(lambda a: a),
    "atleast_3d": Row(lambda a: a.unsqueeze(2), batch_size=(2, 3, 1)),
    "repeat": Row(lambda a: torch.cat([torch.cat([a, a])[None]] * 3), (3, 2, 1), batch_size=(3, 4, 3)),
    "tile": Row(lambda a: torch.cat([a, a], 1), ((2,),), batch_size=(2, 6)),
    "repeat_interleave": Row(
        lambda a: torch.repeat_interleave(a, torch.tensor([2, 0, 1]), 1),
        (torch.tensor([2, 0, 1]), 1),
        batch_size=(2, 3),
    ),
    "roll": Row(lambda a: torch.roll(a, (1, -1), (0, 1)), ((1, -1), (0, 1))),
    "flip": Row(lambda a: torch.flip(a, (0, 1)), ((0, 1),)),
    "fliplr": Row(lambda a: torch.flip(a, (1,))),
    "flipud": Row(lambda a: torch.flip(a, (0,))),
    "rot90": Row(torch.rot90, batch_size=(3, 2)),
    "pad": Row(
        lambda a: torch.nn.functional.pad(a, [0, 0] * (a.dim() - 2) + [0, 2, 1, 0], value=7),
        ((1, 0, 0, 2), 7),
        batch_size=(3, 5),
    ),
    "split": Row(lambda a: torch.split(a, 2, 1), (2, 1)),
    "chunk": Row(lambda a: torch.chunk(a, 2), (2,)),
    "unbind": Row(lambda a: torch.unbind(a, 1), (1,)),
    "tensor_split": Row(lambda a: torch.tensor_split(a, (2, 1), 1), ((2, 1), 1)),
    "narrow": Row(lambda a: a[:, 1:], (1, -2, 2), batch_size=(2, 2)),
    "gather": Row(lambda a: torch.stack([a[0, [2, 0]], a[1, [1, 1]]]), (1, INDEX), batch_size=(2, 2)),
    "masked_select": Row(lambda a: a[MASK], (MASK,), batch_size=(3,)),
    "masked_fill": Row(lambda a: a.masked_fill(over(MASK, a), 7.0), (MASK, 7.0)),
    "where": Row(lambda a, b: torch.where(over(MASK, a), a, b), (MASK, OTHER)),
    "new_zeros": Row(lambda a: a.new_zeros(4, *beyond(a)), (4,), batch_size=(4,)),
    "new_ones": Row(lambda a: a.new_ones(4, 1, *beyond(a)), ((4, 1),), batch_size=(4, 1)),
    "new_full": Row(lambda a: a.new_full((4, *beyond(a)), 5), ((4,), 5), batch_size=(4,)),
}

DTYPES = {
    "float": Row(lambda a: a.float(), whole=False),
    "double": Row(lambda a: a.double()),
    "half": Row(lambda a: a.half()),
    "bfloat16": Row(lambda a: a.bfloat16()),
    "float16": Row(lambda a: a.half()),
    "float32": Row(lambda a: a, whole=True),
    "float64": Row(lambda a: a.double()),
    "complex64": Row(lambda a: a.to(torch.complex64)),
    "complex128": Row(lambda a: a.to(torch.complex128)),
    "int": Row(lambda a: a.int()),
    "int8": Row(lambda a: a.to(torch.int8)),
    "int16": Row(lambda a: a.short()),
    "int32": Row(lambda a: a.int()),
    "int64": Row(lambda a: a.long()),
    "uint8": Row(lambda a: a.to(torch.uint8)),
    "bool": Row(lambda a: a.bool(), whole=True),
}

COPIES = {
    "clone": Row(lambda a: a),
    "detach": Row(lambda a: a),
    "contiguous": Row(lambda a: a),
}

ROWS: dict[str, Row] = FUNCTIONS | OPERATORS | ARITHMETIC | REDUCTIONS | ARRANGED | DTYPES | COPIES | FUNCTION_ROWS

ON_THE_CLASS = "stack cat zeros_like ones_like empty_like full_like rand_like randn_like".split()
"""Operations without a row: they are called on the class, or what they give is not determined."""

NOT_DETERMINED = ["new_empty"]
