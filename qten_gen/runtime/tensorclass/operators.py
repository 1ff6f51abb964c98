"""Arithmetic, comparison and logic between objects, one table.

An operator applies to every tensor. The other operand is an object of the same class and batch size, a number, or a tensor that
broadcasts over the batch size: its last dimension is the last batch dimension, whatever dimensions a field has beyond. Static
fields are those of the left object. Between other operands an operator is not defined.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Size, Tensor

from .contents import first_unbatched
from .indexing import over_batch
from .mismatch import explain

if TYPE_CHECKING:
    from .tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")

Function = Callable[..., Any]  # tensors and numbers in any mixture


@dataclass(frozen=True)
class Operator:
    """An operator: what Python calls it with, and what torch calls it when a tensor is the left operand."""

    function: Function
    torch_functions: tuple[Function, ...]


ARITHMETIC: dict[str, Operator] = {
    "add": Operator(operator.add, (Tensor.add, torch.add)),
    "sub": Operator(operator.sub, (Tensor.sub, torch.sub)),
    "mul": Operator(operator.mul, (Tensor.mul, torch.mul)),
    "truediv": Operator(operator.truediv, (Tensor.div, torch.div, torch.true_divide)),
    "floordiv": Operator(operator.floordiv, (Tensor.__floordiv__, torch.floor_divide)),
    "mod": Operator(operator.mod, (Tensor.remainder, torch.remainder)),
    "pow": Operator(operator.pow, (Tensor.pow, torch.pow)),
    "and": Operator(operator.and_, (Tensor.__and__, torch.bitwise_and)),
    "or": Operator(operator.or_, (Tensor.__or__, torch.bitwise_or)),
    "xor": Operator(operator.xor, (Tensor.__xor__, torch.bitwise_xor)),
    "lshift": Operator(operator.lshift, (Tensor.__lshift__, torch.bitwise_left_shift)),
    "rshift": Operator(operator.rshift, (Tensor.__rshift__, torch.bitwise_right_shift)),
}
"""Operators that also have a reflected form: `__add__` and `__radd__`."""

COMPARISON: dict[str, Operator] = {
    "eq": Operator(operator.eq, (Tensor.eq, torch.eq)),
    "ne": Operator(operator.ne, (Tensor.ne, torch.ne)),
    "lt": Operator(operator.lt, (Tensor.lt, torch.lt)),
    "le": Operator(operator.le, (Tensor.le, torch.le)),
    "gt": Operator(operator.gt, (Tensor.gt, torch.gt)),
    "ge": Operator(operator.ge, (Tensor.ge, torch.ge)),
}
"""Operators whose result has a bool tensor in every tensor field."""

UNARY: dict[str, Operator] = {
    "neg": Operator(operator.neg, (torch.neg,)),
    "pos": Operator(operator.pos, (torch.positive,)),
    "abs": Operator(operator.abs, (torch.abs,)),
    "invert": Operator(operator.invert, (torch.bitwise_not,)),
}


def methods() -> dict[str, Callable[..., object]]:
    """The special methods of the table, by name."""
    made: dict[str, Callable[..., object]] = {}
    for name, binary in (ARITHMETIC | COMPARISON).items():
        made[f"__{name}__"] = _binary(binary.function)
    for name, binary in ARITHMETIC.items():
        made[f"__r{name}__"] = _binary(_reflected(binary.function))
    for name, unary in UNARY.items():
        made[f"__{name}__"] = _unary(unary.function)
    for name, method in made.items():
        method.__name__ = name
        method.__qualname__ = f"TensorClass.{name}"
    return made


def torch_functions() -> dict[Function, Function]:
    """What to call for the torch functions of the table, where one of the operands at least is an object."""
    made: dict[Function, Function] = {}
    for name, found in (ARITHMETIC | COMPARISON).items():
        swapped = f"__{_SWAPPED.get(name, f'r{name}')}__"
        made |= dict.fromkeys(found.torch_functions, _either(f"__{name}__", swapped))
    for unary in UNARY.values():
        made |= dict.fromkeys(unary.torch_functions, unary.function)
    return made


_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _either(name: str, swapped: str) -> Function:
    """Call the special method of the left operand or, where that is a tensor, the other one of the right operand."""

    def apply(left: object, right: object) -> object:
        if isinstance(left, Tensor):
            return getattr(right, swapped)(left)
        return getattr(left, name)(right)

    return apply


def _binary(function: Function) -> Callable[[T, object], T]:
    def method(self: T, other: object, /) -> T:
        size = self._batch_size
        if type(other) is type(self):
            if other._batch_size != size:
                raise ValueError(
                    f"expected two {type(self).__name__} of one batch size, got {list(size)} and {list(other._batch_size)}"
                )
            try:
                return self._zip(function, other)
            except RuntimeError as error:
                explain(function.__name__, [self, other], error)
                raise
        if isinstance(other, (int, float, complex)) or (isinstance(other, Tensor) and other.dim() == 0):
            return self._map_with(function, other, self._device)
        if isinstance(other, Tensor):
            refuse_unbatched(self)
            return self._map_with(_over_batch, (function, other, size), self._device)
        # NumPy's numbers; the usual ones went before, without the cost of an abstract class.
        if isinstance(other, Number):
            return self._map_with(function, other, self._device)
        return NotImplemented  # type: ignore[no-any-return] # for Python to try the other operand

    return method


def refuse_unbatched(self: TensorClass) -> None:
    """Raise the error of a tensor with one value an item, where a field has no items to apply it to."""
    path = first_unbatched(self)
    if path is not None:
        raise TypeError(
            f"{path} is not carried by the batch, so a Tensor over the batch size does not apply to it; "
            "compute field by field"
        )


def _reflected(function: Function) -> Function:
    def reflected(tensor: Tensor, other: object) -> object:
        return function(other, tensor)

    return reflected


def _unary(function: Callable[[Any], Any]) -> Callable[[T], T]:
    def method(self: T) -> T:
        return self._map(function)

    return method


def _over_batch(tensor: Tensor, argument: tuple[Function, Tensor, Size]) -> Tensor:
    function, other, batch_size = argument
    result: Tensor = function(tensor, over_batch(other, batch_size, tensor.dim() - len(batch_size)))
    return result
