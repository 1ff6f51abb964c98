"""Steps that work on numbers: functions, arithmetic, operators, dtypes, choices between values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from qten_gen.runtime.tensorclass.operations.entries import Operation

from .plain import Plain, valued
from .steps import OTHER, Builder, Step, float_or_as_it_is, known, operand, over_batch

FLOATING = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float32": torch.float32,
    "float64": torch.float64,
}
EVERY = {name: getattr(torch, name) for name in ("int", "int8", "int16", "int32", "int64", "uint8", "bool")}


def unary(operation: Operation) -> Builder:
    """`sin`, `__neg__`, `double`, ..."""
    name = operation.name
    if name in FLOATING:
        function: Callable[[Tensor], Tensor] = float_or_as_it_is(FLOATING[name])
    elif name in EVERY:
        dtype = EVERY[name]
        function = lambda tensor: tensor.to(dtype)  # noqa: E731 # one of three
    else:
        function = getattr(operator if name.startswith("__") else torch, name)
    return lambda draw, plain: Step(name, lambda before, other: valued(before, function))


def unary_in_place(operation: Operation) -> Builder:
    """`sin_`, ..."""
    name = operation.in_place_name

    def write(tensor: Tensor) -> Tensor:
        written: Tensor = getattr(tensor.clone(), name)()
        return written

    return lambda draw, plain: Step(name, lambda before, other: valued(before, write), writes=True)


CALLED: dict[str, Callable[..., Tensor]] = {
    "mod": torch.remainder,
    "maximum": lambda a, b: torch.maximum(a, b) if isinstance(b, Tensor) else torch.clamp_min(a, b),
    "minimum": lambda a, b: torch.minimum(a, b) if isinstance(b, Tensor) else torch.clamp_max(a, b),
}
CALLED_IN_PLACE = {
    "maximum_": "clamp_min_",
    "minimum_": "clamp_max_",
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


def binary(operation: Operation) -> Builder:
    """`add`, `maximum`, `__mul__`, `__eq__`, ..."""
    name = operation.name
    module: Any = operator if name.startswith("__") else torch
    function = taking_numbers(CALLED.get(name) or getattr(module, name))

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        given = operand(draw, plain)
        options = _options(draw, operation)
        return Step(
            name, lambda before, other: valued(before, _with(function, options), known(given, other)), (given,), options
        )

    return build


def binary_in_place(operation: Operation) -> Builder:
    """`add_`, `__iadd__`, ..."""
    name = operation.in_place_name
    called = CALLED_IN_PLACE.get(name, f"{name[3:-2]}_" if name.startswith("__") else name)

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        given = operand(draw, plain)
        options = _options(draw, operation)

        def write(tensor: Tensor, argument: Any) -> Tensor:
            return taking_numbers(getattr(tensor.clone(), called))(argument, **options)

        return Step(
            name, lambda before, other: valued(before, write, known(given, other)), (given,), options, writes=True
        )

    return build


def _options(draw: st.DrawFn, operation: Operation) -> dict[str, Any]:
    if operation.form == "scaled":
        return draw(st.sampled_from([{}, {"alpha": 2}]))
    return draw(st.sampled_from([{}, {"rounding_mode": "floor"}])) if operation.form == "rounded" else {}


def _with(function: Callable[..., Tensor], options: dict[str, Any]) -> Callable[..., Tensor]:
    return lambda *arguments: function(*arguments, **options)


def product(operation: Operation) -> Builder:
    """`addcmul` and `addcdiv`, in place too."""

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        first, second = draw(st.sampled_from([(OTHER, OTHER), (OTHER, over_batch(draw, plain, torch.float64))]))
        name = draw(st.sampled_from([operation.name, operation.in_place_name]))

        def apply(tensor: Tensor, a: Any, b: Any) -> Tensor:
            result: Tensor = getattr(tensor.clone(), name)(a, b, value=2)
            return result

        return Step(
            name,
            lambda before, other: valued(before, apply, known(first, other), known(second, other)),
            (first, second),
            {"value": 2},
            writes=name.endswith("_"),
        )

    return build


def reflected(operation: Operation) -> Builder:
    """`__radd__`, ...: a number on the left."""
    function = getattr(operator, f"__{operation.name[3:]}")

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        number = draw(st.sampled_from([2, 0.5]))
        return Step(operation.name, lambda before, other: valued(before, lambda a: function(number, a)), (number,))

    return build


def clamp(draw: st.DrawFn, plain: Plain) -> Step:
    low, high = operand(draw, plain), draw(st.sampled_from([None, 2, OTHER]))

    def apply(tensor: Tensor, first: Any, second: Any) -> Tensor:
        raised = torch.clamp_min(tensor, first)
        return raised if second is None else torch.clamp_max(raised, second)

    return Step(
        "clamp", lambda before, other: valued(before, apply, known(low, other), known(high, other)), (low, high)
    )


def lerp(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("lerp", lambda before, other: valued(before, lambda a, b: torch.lerp(a, b, 0.25), other), (OTHER, 0.25))


def round_(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("round", lambda before, other: valued(before, torch.round))


def where(draw: st.DrawFn, plain: Plain) -> Step:
    mask, given = over_batch(draw, plain, torch.bool), draw(st.sampled_from([OTHER, 2, 0.5]))
    return Step(
        "where",
        lambda before, other: valued(before, lambda a, m, b: torch.where(m, a, b), mask, known(given, other)),
        (mask, given),
    )


def masked_fill(draw: st.DrawFn, plain: Plain) -> Step:
    mask, name = over_batch(draw, plain, torch.bool), draw(st.sampled_from(["masked_fill", "masked_fill_"]))
    return Step(
        name,
        lambda before, other: valued(before, lambda a, m: a.masked_fill(m, 1), mask),
        (mask, 1),
        writes=name.endswith("_"),
    )


def zero(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("zero_", lambda before, other: valued(before, torch.zeros_like), writes=True)


def fill(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("fill_", lambda before, other: valued(before, lambda a: torch.full_like(a, 1)), (1,), writes=True)


def same(name: str) -> Builder:
    """`clone` and its like."""
    return lambda draw, plain: Step(name, lambda before, other: before)


BY_FORM: dict[str, Callable[[Operation], Builder]] = {
    "unary": unary,
    "cast": unary,
    "binary": binary,
    "scaled": binary,
    "rounded": binary,
    "operator": binary,
    "comparison": binary,
    "reflected": reflected,
    "product": product,
}
IN_PLACE_BY_FORM: dict[str, Callable[[Operation], Builder]] = {
    "unary": unary_in_place,
    "binary": binary_in_place,
    "scaled": binary_in_place,
    "rounded": binary_in_place,
    "operator": binary_in_place,
}
BY_NAME: dict[str, Builder] = {
    "clamp": clamp,
    "lerp": lerp,
    "round": round_,
    "where": where,
    "masked_fill": masked_fill,
    "zero_": zero,
    "fill_": fill,
    "clone": same("clone"),
    "detach": same("detach"),
    "contiguous": same("contiguous"),
}
