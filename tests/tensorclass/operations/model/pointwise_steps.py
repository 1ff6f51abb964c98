"""Steps that work on numbers: functions, arithmetic, operators, dtypes, choices between values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from qten_gen.runtime.tensorclass.operations.entries import Operation

from .plain import Items, Plain, positions, valued
from .steps import OTHER, Builder, Step, float_or_as_it_is, known, operand, over_batch

FLOATING = {name: getattr(torch, name) for name in "float double half bfloat16 float16 float32 float64".split()}
EVERY = {name: getattr(torch, name) for name in ("int", "int8", "int16", "int32", "int64", "uint8", "bool")}


def unary(operation: Operation) -> Builder:
    """`__neg__`, `double`, ..."""
    name = operation.name
    if name in FLOATING:
        function: Callable[[Tensor], Tensor] = float_or_as_it_is(FLOATING[name])
    elif name in EVERY:
        dtype = EVERY[name]
        function = lambda tensor: tensor.to(dtype)  # noqa: E731 # one of three
    else:
        function = getattr(operator, name)
    return lambda draw, plain: Step(name, lambda before, other: valued(before, function))


def function(name: str) -> Builder:
    """`torch.sin` and its like."""
    return lambda draw, plain: Step(name, lambda before, other: valued(before, getattr(torch, name)))


CALLED_IN_PLACE = {
    "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_",
    "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_",
    "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_",
}


def taking_numbers(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function, with a tensor for a number where it takes tensors only: methods promise to take numbers."""

    def applied(*operands: Any, **options: Any) -> Tensor:
        *before, last = operands
        try:
            return function(*operands, **options)
        except TypeError:
            if isinstance(last, Tensor):
                raise
            beside = before[0] if before else torch.ones(())
            return function(*before, torch.full((), last, dtype=torch.result_type(beside, last)), **options)

    return applied


OPTIONS: dict[str, list[dict[str, Any]]] = {"add": [{}, {"alpha": 2}], "div": [{}, {"rounding_mode": "floor"}]}


def binary(operation: Operation) -> Builder:
    """`__mul__`, `__eq__`, ..., and `torch.add`, `torch.maximum`, ..., which take numbers where torch does."""
    name = operation.name
    function = taking_numbers(getattr(operator, name)) if name.startswith("__") else getattr(torch, name)
    choices = OPTIONS.get(name, [{}])

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        given, options = operand(draw, plain), draw(st.sampled_from(choices))

        def apply(tensor: Tensor, argument: Any) -> Tensor:
            result: Tensor = function(tensor, argument, **options)
            return result

        return Step(name, lambda before, other: valued(before, apply, known(given, other)), (given,), options)

    return build


def binary_in_place(operation: Operation) -> Builder:
    """`__iadd__`, ..."""
    name = operation.in_place_name
    called = CALLED_IN_PLACE.get(name, f"{name[3:-2]}_")

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        given = operand(draw, plain)

        def write(tensor: Tensor, argument: Any) -> Tensor:
            return taking_numbers(getattr(tensor.clone(), called))(argument)

        return Step(name, lambda before, other: valued(before, write, known(given, other)), (given,), writes=True)

    return build


def reflected(operation: Operation) -> Builder:
    """`__radd__`, ...: a number on the left."""
    function = getattr(operator, f"__{operation.name[3:]}")

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        number = draw(st.sampled_from([2, 0.5]))
        return Step(operation.name, lambda before, other: valued(before, lambda a: function(number, a)), (number,))

    return build


def where(draw: st.DrawFn, plain: Plain) -> Step:
    mask, given = over_batch(draw, plain, torch.bool), draw(st.sampled_from([OTHER, 2, 0.5]))

    def expected(before: Plain, other: Plain) -> Plain:
        if given is OTHER and before.ragged and before.unbatched:
            raise TypeError("an unbatched tensor has no items to choose")
        if given is not OTHER or not before.ragged:
            return valued(before, lambda a, m, b: torch.where(m, a, b), mask, known(given, other))
        apart = replace(before, ragged={}), replace(other, ragged={})
        index = torch.where(mask, positions(before.batch_size), positions(before.batch_size) + prod(before.batch_size))
        chosen = {
            path: Items(
                (2 * prod(before.batch_size), *one.shape[before.n :]), one.rows + other.ragged[path].rows, one.none
            )
            for path, one in before.ragged.items()
        }
        out = valued(apart[0], lambda a, m, b: torch.where(m, a, b), mask, apart[1])
        return replace(out, ragged={path: items.picked(index, 1) for path, items in chosen.items()})

    return Step("where", expected, (mask, given))


def masked_fill(name: str) -> Builder:
    def build(draw: st.DrawFn, plain: Plain) -> Step:
        mask = over_batch(draw, plain, torch.bool)
        expected = lambda before, other: valued(before, lambda a, m: a.masked_fill(m, 1), mask)  # noqa: E731
        return Step(name, expected, (mask, 1), writes=name.endswith("_"))

    return build


def zero(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("zero_", lambda before, other: valued(before, torch.zeros_like), writes=True)


def fill(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("fill_", lambda before, other: valued(before, lambda a: torch.full_like(a, 1)), (1,), writes=True)


def same(name: str) -> Builder:
    """`clone` and its like."""
    return lambda draw, plain: Step(name, lambda before, other: before)


BY_FORM: dict[str, Callable[[Operation], Builder]] = {
    **dict.fromkeys(("unary", "cast"), unary),
    **dict.fromkeys(("binary", "operator", "comparison"), binary),
    "reflected": reflected,
}
IN_PLACE_BY_FORM: dict[str, Callable[[Operation], Builder]] = {"operator": binary_in_place}
BY_NAME: dict[str, Builder] = {
    **{name: function(name) for name in "abs neg sign sqrt exp log1p sin tanh floor round isfinite".split()},
    "where": where,
    "masked_fill": masked_fill("masked_fill"),
    "masked_fill_": masked_fill("masked_fill_"),
    "zero_": zero,
    "fill_": fill,
    **{name: same(name) for name in ("clone", "detach", "contiguous")},
    "detach_": lambda draw, plain: Step("detach_", lambda before, other: before, writes=True),
}
