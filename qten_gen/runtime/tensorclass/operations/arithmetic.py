"""Operations with other operands, number by number: operators, arithmetic, comparison, logic."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..core.stored import Stored
from ..methods.operands import Function, is_plain, reflected, two
from . import entries
from .entries import OPERAND_ERRORS, Group, Operation, changing, documented, pointwise, written_out

T = TypeVar("T", bound=Stored)


def _binary(name: str, doc: str, *torch_functions: Function, applied: Function | None = None) -> Operation:
    """An entry for a function of two operands: the first of `torch_functions`, or what is applied in its place."""
    function = applied or torch_functions[0]
    swapped = reflected(function)

    def handler(input: Any, other: Any, **options: Any) -> Any:
        called = partial(function, **options) if options else function
        if isinstance(input, Tensor) or is_plain(input):
            return two(other, reflected(called) if options else swapped, input, name)
        return two(input, called, other, name)

    return Operation(name, doc, documented(handler, name, doc), torch_functions, form="binary", is_method=False)


def _maximum(tensor: Tensor, other: Tensor | float) -> Tensor:
    # `torch.maximum` takes no number.
    return torch.maximum(tensor, other) if isinstance(other, Tensor) else torch.clamp_min(tensor, other)


def _minimum(tensor: Tensor, other: Tensor | float) -> Tensor:
    return torch.minimum(tensor, other) if isinstance(other, Tensor) else torch.clamp_max(tensor, other)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Every number between `min` and `max`, either of which may be left out.

    Raises:
        ValueError: neither is given.
    """
    if min is None and max is None:
        raise ValueError("clamp: expected min, max or both")
    raised = input if min is None else torch.clamp_min(input, min)
    return raised if max is None else torch.clamp_max(raised, max)


@changing
def fill_(self: T, value: complex) -> T:
    """Write a number into every tensor, in place."""
    return self._map_with(Tensor.fill_, value, self._device)


@changing
def zero_(self: T) -> T:
    """Write 0 into every tensor, in place."""
    return self._map(Tensor.zero_)


GROUP = Group(
    "Arithmetic",
    "Operands are as for operators. The last dimension of a tensor is the last batch dimension, whatever dimensions a "
    "field has beyond the batch size.",
    (
        _binary("add", "The sum with `alpha` times the operand.", torch.add),
        _binary("sub", "The difference to `alpha` times the operand.", torch.sub, torch.subtract),
        _binary("rsub", "The operand minus `alpha` times the object.", torch.rsub),
        _binary("mul", "The product.", torch.mul, torch.multiply),
        _binary("div", "The quotient, rounded as `rounding_mode` says.", torch.div, torch.divide, torch.true_divide),
        _binary("remainder", "The remainder of a division, with the sign of the divisor.", torch.remainder),
        _binary("fmod", "The remainder of a division, with the sign of the dividend.", torch.fmod),
        _binary("floor_divide", "The quotient, rounded down.", torch.floor_divide),
        _binary("pow", "The power with the operand as exponent.", torch.pow),
        _binary("atan2", "The angle of a point.", torch.atan2, torch.arctan2),
        _binary("maximum", "The larger of the two.", torch.maximum, applied=_maximum),
        _binary("minimum", "The smaller of the two.", torch.minimum, applied=_minimum),
        _binary("clamp_min", "Nothing smaller than the operand.", torch.clamp_min),
        _binary("clamp_max", "Nothing larger than the operand.", torch.clamp_max),
        _binary("bitwise_and", "Bits that both have.", torch.bitwise_and),
        _binary("bitwise_or", "Bits that one of them has.", torch.bitwise_or),
        _binary("bitwise_xor", "Bits that only one of them has.", torch.bitwise_xor),
        _binary("bitwise_left_shift", "Bits moved to the left.", torch.bitwise_left_shift),
        _binary("bitwise_right_shift", "Bits moved to the right.", torch.bitwise_right_shift),
        _binary("logical_and", "True where both are nonzero.", torch.logical_and),
        _binary("logical_or", "True where one of them is nonzero.", torch.logical_or),
        _binary("logical_xor", "True where only one of them is nonzero.", torch.logical_xor),
        pointwise("addcmul", "", torch.addcmul, operands=("input", "tensor1", "tensor2")),
        pointwise("addcdiv", "", torch.addcdiv, operands=("input", "tensor1", "tensor2")),
        pointwise("lerp", "", torch.lerp, operands=("input", "end", "weight")),
        Operation("clamp", "", clamp, (torch.clamp, torch.clip), is_method=False),
        written_out(fill_),
        written_out(zero_, torch.zero_),
    ),
    OPERAND_ERRORS,
)


def _operator(
    name: str, symbol: str, torch_function: Function, in_place: Function, *others: Function
) -> tuple[Operation, ...]:
    """Entries for an operator that also has a reflected form and one in place.

    `torch_function` is what a tensor calls for it, `others` what it calls while a graph is traced.
    """
    function: Function = getattr(operator, f"__{name}__")
    left, right = f"__{name}__", f"__r{name}__"
    return (
        Operation(
            left,
            f"`batch {symbol} other`.",
            documented(entries.operator(function), left, f"`self {symbol} other`."),
            torch_functions=(torch_function, *others),
            handler=_of_either(left, right, getattr(torch, torch_function.__name__, None)),
            in_place=documented(entries.operator_in_place(in_place), f"__i{name}__", f"`self {symbol}= other`."),
            form="operator",
        ),
        Operation(
            right,
            f"`other {symbol} batch`.",
            documented(
                entries.operator(_called(reflected(function), function.__name__)), right, f"`other {symbol} self`."
            ),
            # While a graph is traced, `batch - tensor` comes as `Tensor.__rsub__(tensor, batch)`, which a run does not call.
            torch_functions=(getattr(Tensor, right),) if hasattr(Tensor, right) else (),
            handler=_of_either(right, left),
            form="reflected",
        ),
    )


def _called(function: Function, name: str) -> Function:
    function.__name__ = name
    return function


def _comparison(name: str, symbol: str, *torch_functions: Function) -> Operation:
    """An entry for an operator whose result has a bool tensor in every tensor field."""
    special = f"__{name}__"
    swapped = f"__{_SWAPPED[name]}__"
    return Operation(
        special,
        f"`batch {symbol} other`.",
        documented(entries.operator(getattr(operator, special)), special, f"`self {symbol} other`, number by number."),
        torch_functions=torch_functions,
        handler=_of_either(special, swapped),
        form="comparison" if name in ("eq", "ne") else "operator",
    )


_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _unary_operator(name: str, text: str, function: Function) -> Operation:
    made = documented(
        entries.unary(getattr(operator, f"__{name}__"), name), f"__{name}__", f"`{text.replace('batch', 'self')}`."
    )
    return Operation(f"__{name}__", f"`{text}`.", made, torch_functions=(function,), form="unary")


def _of_either(name: str, swapped: str, named: Function | None = None) -> Function:
    """Call the special method of the left operand or, where that is a tensor, the other one of the right operand.

    Python has asked the tensor first, and torch comes here: what a class defines for the operator is called all the same.
    `named` is the function of torch that takes options: `tensor.add(batch, alpha=2)`.
    """

    def handler(left: Any, right: Any, **options: Any) -> Any:
        if options and named is not None:
            return named(left, right, **options)
        return getattr(right, swapped)(left) if isinstance(left, Tensor) else getattr(left, name)(right)

    return handler


OPERATORS = (
    *_operator("add", "+", Tensor.add, Tensor.add_),
    *_operator("sub", "-", Tensor.sub, Tensor.sub_),
    *_operator("mul", "*", Tensor.mul, Tensor.mul_),
    *_operator("truediv", "/", Tensor.div, Tensor.div_),
    *_operator("floordiv", "//", Tensor.__floordiv__, Tensor.floor_divide_),
    *_operator("mod", "%", Tensor.remainder, Tensor.remainder_),
    *_operator("pow", "**", Tensor.pow, Tensor.pow_, Tensor.__pow__),
    *_operator("and", "&", Tensor.__and__, Tensor.bitwise_and_, Tensor.bitwise_and),
    *_operator("or", "|", Tensor.__or__, Tensor.bitwise_or_, Tensor.bitwise_or),
    *_operator("xor", "^", Tensor.__xor__, Tensor.bitwise_xor_, Tensor.bitwise_xor),
    *_operator("lshift", "<<", Tensor.__lshift__, Tensor.bitwise_left_shift_),
    *_operator("rshift", ">>", Tensor.__rshift__, Tensor.bitwise_right_shift_),
    _comparison("eq", "==", Tensor.eq, torch.eq, Tensor.__eq__),
    _comparison("ne", "!=", Tensor.ne, torch.ne, torch.not_equal),
    _comparison("lt", "<", Tensor.lt, torch.lt, torch.less),
    _comparison("le", "<=", Tensor.le, torch.le, torch.less_equal),
    _comparison("gt", ">", Tensor.gt, torch.gt, torch.greater),
    _comparison("ge", ">=", Tensor.ge, torch.ge, torch.greater_equal),
    _unary_operator("neg", "-batch", Tensor.neg),
    _unary_operator("pos", "+batch", torch.positive),
    _unary_operator("abs", "abs(batch)", Tensor.abs),
    _unary_operator("invert", "~batch", torch.bitwise_not),
)

OPERATOR_GROUP = Group(
    "Operators",
    "A binary operator takes an object of the same class and batch size, a number, or a tensor that broadcasts over "
    "the batch size. Comparisons give an object with bool tensors, so objects cannot be keys of a dict. `+=` and the like "
    "change the object in place.",
    OPERATORS,
    OPERAND_ERRORS,
)
