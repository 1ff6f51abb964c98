"""Signatures of the methods that are made of entries, for checkers. A test compares the parameters with those of the methods.

A signature is its parameters and its result. Where there are several, they are overloads.
"""

from __future__ import annotations

from typing import TypeAlias

Signature: TypeAlias = tuple[tuple[str, ...], str]

_OTHER = "other: Self | Tensor | complex"
_REDUCED = "dim: Dims = None", "keepdim: bool = False"


def _reduction(
    *before: str, after: tuple[str, ...] = (), start: tuple[str, ...] = _REDUCED
) -> tuple[Signature, Signature]:
    """A reduction: one object or, with `reduce=True`, one tensor."""
    parameters = ("self", *before, *start, *(() if "*" in start else ("*",)), *after)
    return (
        ((*parameters, "reduce: Literal[False] = False"), "Self"),
        ((*parameters, "reduce: Literal[True]"), "Tensor"),
    )


_DTYPE = "dtype: torch.dtype | None = None"
_NEW = _DTYPE, "device: DeviceLike = None", "requires_grad: bool = False"

FORMS: dict[str, tuple[Signature, ...]] = {
    "unary": ((("self",), "Self"),),
    "cast": ((("self", "*", "cast_filter: CastFilter | None = None"), "Self"),),
    "binary": ((("self", _OTHER), "Self"),),
    "scaled": ((("self", _OTHER, "*", "alpha: complex = 1"), "Self"),),
    "rounded": ((("self", _OTHER, "*", 'rounding_mode: Literal["trunc", "floor"] | None = None'), "Self"),),
    "product": (
        (
            (
                "self",
                "tensor1: Self | Tensor | complex",
                "tensor2: Self | Tensor | complex",
                "*",
                "value: complex = 1",
            ),
            "Self",
        ),
    ),
    "operator": ((("self", _OTHER, "/"), "Self"),),
    "comparison": ((("self", _OTHER, "/"), "Self"),),
    "reflected": ((("self", "other: Tensor | complex", "/"), "Self"),),
    "reduction": _reduction(),
    "reduction dtype": _reduction(after=(_DTYPE,)),
    "reduction correction": _reduction(
        start=(
            "dim: Dims = None",
            "*",
            "unbiased: bool | None = None",
            "correction: float = 1",
            "keepdim: bool = False",
        )
    ),
    "reduction norm": _reduction("p: float = 2", after=(_DTYPE,)),
    "reduction quantile": _reduction("q: float | Tensor", after=('interpolation: str = "linear"',)),
    "truth": (
        (("self", "dim: None = None", "keepdim: bool = False", "*", "reduce: Literal[False] = False"), "bool"),
        (
            (
                "self",
                'dim: Dim | Sequence[Dim] | Literal["feature"]',
                "keepdim: bool = False",
                "*",
                "reduce: Literal[False] = False",
            ),
            "Self",
        ),
        (("self", *_REDUCED, "*", "reduce: Literal[True]"), "Tensor"),
    ),
    "extremum": (
        (("self", "dim: None = None", "keepdim: bool = False", "*", "reduce: Literal[False] = False"), "Self"),
        (
            ("self", "dim: Dim", "keepdim: bool = False", "*", "reduce: Literal[False] = False"),
            "ValuesAndIndices[Self]",
        ),
        (("self", "dim: Dim | None = None", "keepdim: bool = False", "*", "reduce: Literal[True]"), "Tensor"),
    ),
    "running": ((("self", "dim: Dim", "*", _DTYPE), "Self"),),
    "running pair": ((("self", "dim: Dim"), "ValuesAndIndices[Self]"),),
    "new": (
        (("self", "*size: int", *_NEW), "Self"),
        (("self", "size: Sequence[int]", "/", "*", *_NEW), "Self"),
    ),
    "like": ((("cls", "input: Self", "*", *_NEW), "Self"),),
    "full like": ((("cls", "input: Self", "fill_value: complex", "*", *_NEW), "Self"),),
}
