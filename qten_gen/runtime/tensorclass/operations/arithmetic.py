"""Operations with other operands, number by number: operators, arithmetic, comparison, logic."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..core.stored import Stored
from ..methods.operands import Function, Operand, one, reflected, several, two
from . import entries
from .entries import OPERAND_ERRORS, Group, Operation, among, among_operands, documented, written_out

T = TypeVar("T", bound=Stored)


def _binary(
    name: str,
    doc: str,
    function: Function,
    *torch_functions: Function,
    twin: Function | None = None,
    maker: Callable[..., Function] = entries.binary,
    form: str = "binary",
    is_method: bool = True,
) -> Operation:
    """An entry for a function of two operands. `torch_functions` mean the same, and the function itself where torch has it."""
    made = documented(maker(function, name), name, doc)
    return Operation(
        name,
        doc,
        made,
        torch_functions=torch_functions or (function,),
        handler=entries.either_side(made, function, name),
        in_place=twin and entries.in_place(maker, twin, name),
        form=form,
        is_method=is_method,
    )


def _product(name: str, doc: str, function: Function, twin: Function) -> Operation:
    """An entry for `addcmul` and its like."""
    made = documented(entries.multiplied(function, name), name, doc)
    handler = among_operands(made, function, name, ("input", "tensor1", "tensor2"))
    return Operation(
        name,
        doc,
        made,
        torch_functions=(function,),
        handler=handler,
        in_place=entries.in_place(entries.multiplied, twin, name),
        form="product",
    )


def _maximum(tensor: Tensor, other: Tensor | float) -> Tensor:
    # `torch.maximum` takes no number.
    return torch.maximum(tensor, other) if isinstance(other, Tensor) else torch.clamp_min(tensor, other)


def _minimum(tensor: Tensor, other: Tensor | float) -> Tensor:
    return torch.minimum(tensor, other) if isinstance(other, Tensor) else torch.clamp_max(tensor, other)


def _logical_and(tensor: Tensor, other: Tensor | complex) -> Tensor:
    # `torch.logical_and` takes no number.
    return torch.logical_and(tensor, other if isinstance(other, Tensor) else torch.full_like(tensor, bool(other)))


def clamp(self: T, min: Operand | None = None, max: Operand | None = None) -> T:
    """Every number between `min` and `max`, either of which may be left out.

        batch.clamp(0, 1), batch.clamp(max=limits)

    Raises:
        ValueError: neither is given.
    """
    return _clamp(self, torch.clamp_min, torch.clamp_max, "clamp", min, max)


@entries.changing
def clamp_(self: T, min: Operand | None = None, max: Operand | None = None) -> T:
    """`clamp`, in place."""
    return _clamp(self, Tensor.clamp_min_, Tensor.clamp_max_, "clamp_", min, max)


def _clamp(
    self: T, from_below: Function, from_above: Function, name: str, min: Operand | None, max: Operand | None
) -> T:
    if min is None and max is None:
        raise ValueError(f"{type(self).__name__}.{name}: expected min, max or both")
    raised = self if min is None else two(self, from_below, min, name)
    return raised if max is None else two(raised, from_above, max, name)


def lerp(self: T, end: Operand, weight: Operand) -> T:
    """The object that lies between this one and `end`, `weight` of the way."""
    return several(self, _lerp, (end, weight), "lerp")


@entries.changing
def lerp_(self: T, end: Operand, weight: Operand) -> T:
    """`lerp`, in place."""
    return several(self, _lerp_, (end, weight), "lerp_")


def _lerp(tensor: Tensor, end: Tensor | float, weight: Tensor | float) -> Tensor:
    # `torch.lerp` takes no number for the end.
    return torch.lerp(tensor, end if isinstance(end, Tensor) else torch.full_like(tensor, end), weight)


def _lerp_(tensor: Tensor, end: Tensor | float, weight: Tensor | float) -> Tensor:
    return tensor.lerp_(end if isinstance(end, Tensor) else torch.full_like(tensor, end), weight)


def round(self: T, *, decimals: int = 0) -> T:
    """Every number rounded to `decimals` places, halves to the even neighbour."""
    return one(self, torch.round, "round") if decimals == 0 else self._map_with(_round, decimals, self._device)


@entries.changing
def round_(self: T, *, decimals: int = 0) -> T:
    """`round`, in place."""
    return self._map_with(_round_, decimals, self._device)


def _round(tensor: Tensor, decimals: int) -> Tensor:
    return torch.round(tensor, decimals=decimals)


def _round_(tensor: Tensor, decimals: int) -> Tensor:
    return tensor.round_(decimals=decimals) if decimals else tensor.round_()


@entries.changing
def fill_(self: T, value: complex) -> T:
    """Write a number into every tensor, in place."""
    return self._map_with(Tensor.fill_, value, self._device)


@entries.changing
def zero_(self: T) -> T:
    """Write 0 into every tensor, in place."""
    return self._map(Tensor.zero_)


def _of_clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """`torch.clamp`, whose input may be the tensor and its limits the objects."""
    if isinstance(input, Stored):
        return clamp(input, min, max)
    if isinstance(min, Stored):
        raised = among("clamp", torch.clamp_min, (input, min))
        return raised if max is None else clamp(raised, None, max)
    lowered = among("clamp", torch.clamp_max, (input if min is None else torch.clamp_min(input, min), max))
    return lowered


ARITHMETIC = (
    _binary(
        "add",
        "The sum with `alpha` times the operand.",
        torch.add,
        twin=Tensor.add_,
        maker=entries.scaled,
        form="scaled",
    ),
    _binary(
        "sub",
        "The difference to `alpha` times the operand.",
        torch.sub,
        torch.sub,
        torch.subtract,
        twin=Tensor.sub_,
        maker=entries.scaled,
        form="scaled",
    ),
    _binary("rsub", "The operand minus `alpha` times the object.", torch.rsub, maker=entries.scaled, form="scaled"),
    _binary("mul", "The product.", torch.mul, torch.mul, torch.multiply, twin=Tensor.mul_),
    _binary(
        "div",
        "The quotient, rounded as `rounding_mode` says.",
        torch.div,
        torch.div,
        torch.divide,
        torch.true_divide,
        twin=Tensor.div_,
        maker=entries.rounded,
        form="rounded",
    ),
    _binary("mod", "The remainder of a division, with the sign of the divisor.", torch.remainder),
    _binary("pow", "The power with the operand as exponent.", torch.pow, twin=Tensor.pow_),
    _binary("maximum", "The larger of the two.", _maximum, torch.maximum, twin=Tensor.clamp_min_),
    _binary("minimum", "The smaller of the two.", _minimum, torch.minimum, twin=Tensor.clamp_max_),
    _binary("clamp_min", "Nothing smaller than the operand.", torch.clamp_min, twin=Tensor.clamp_min_),
    _binary("clamp_max", "Nothing larger than the operand.", torch.clamp_max, twin=Tensor.clamp_max_),
    _binary("bitwise_and", "Bits that both have.", torch.bitwise_and),
    _binary("logical_and", "Whether both are nonzero.", _logical_and, torch.logical_and),
    _binary("floor_divide", "The quotient, rounded down.", torch.floor_divide, is_method=False),
    _binary("bitwise_or", "Bits that one of them has.", torch.bitwise_or, is_method=False),
    _binary("bitwise_xor", "Bits that only one of them has.", torch.bitwise_xor, is_method=False),
    _binary("bitwise_left_shift", "Bits moved to the left.", torch.bitwise_left_shift, is_method=False),
    _binary("bitwise_right_shift", "Bits moved to the right.", torch.bitwise_right_shift, is_method=False),
    _binary("logical_or", "Whether one of them is nonzero.", torch.logical_or, is_method=False),
    _binary("logical_xor", "Whether only one of them is nonzero.", torch.logical_xor, is_method=False),
    _binary("fmod", "The remainder of a division, with the sign of the dividend.", torch.fmod, is_method=False),
    _binary("atan2", "The angle of a point.", torch.atan2, torch.atan2, torch.arctan2, is_method=False),
    _product("addcmul", "The sum with `value` times the product of two operands.", torch.addcmul, Tensor.addcmul_),
    _product("addcdiv", "The sum with `value` times the quotient of two operands.", torch.addcdiv, Tensor.addcdiv_),
    written_out(
        lerp,
        torch.lerp,
        in_place=lerp_,
        handler=among_operands(lerp, _lerp, "lerp", ("input", "end", "weight")),
    ),
    written_out(clamp, torch.clamp, torch.clip, in_place=clamp_, handler=_of_clamp),
    written_out(round, torch.round, torch.special.round, in_place=round_),
    written_out(fill_),
    written_out(zero_, torch.zero_),
)

GROUP = Group(
    "Arithmetic",
    "An operand is an object of the same class and batch size, a number, or a tensor that broadcasts over the "
    "batch size. The last dimension of such a tensor is the last batch dimension, whatever dimensions a field has "
    "beyond the batch size. Most of these methods have an operator too.",
    ARITHMETIC,
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
    "The other operand is an object of the same class and batch size, a number, or a tensor that broadcasts over "
    "the batch size. NumPy's scalars are numbers; its arrays are refused. Comparisons give an object with bool tensors, so "
    "objects cannot be keys of a dict. `+=` and the like change the object in place.",
    OPERATORS,
    OPERAND_ERRORS,
)
