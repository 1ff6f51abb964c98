"""The operators of Python: `batch + 1`, `batch += 1`, `batch == other`, `-batch`."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import Tensor

from ..methods.operands import Function, reflected
from . import entries
from .entries import OPERAND_ERRORS, Group, Operation, documented


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
    "The other operand is an object of the same class and batch size, a number, or a tensor that broadcasts over "
    "the batch size. NumPy's scalars are numbers; its arrays are refused. Comparisons give an object with bool tensors, so "
    "objects cannot be keys of a dict. `+=` and the like change the object in place.",
    OPERATORS,
    OPERAND_ERRORS,
)
