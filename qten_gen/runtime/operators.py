"""Arithmetic, comparison and logic between objects, one table.

An operator applies to every tensor. The other operand is an object of the same class and batch size, a number, or a tensor that
broadcasts over the batch size: its last dimension is the last batch dimension, whatever dimensions a field has beyond. Static
fields are those of the left object. Between other operands an operator is not defined.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Size, Tensor

from .indexing import over_batch

if TYPE_CHECKING:
    from .tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")

Function = Callable[[Any, Any], Any]  # tensors and numbers in any mixture

ARITHMETIC: dict[str, Function] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
"""Operators that also have a reflected form: `__add__` and `__radd__`."""

COMPARISON: dict[str, Function] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
"""Operators whose result has a bool tensor in every tensor field."""

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": operator.abs,
    "invert": operator.invert,
}


def methods() -> dict[str, Callable[..., object]]:
    """The special methods of the table, by name."""
    made: dict[str, Callable[..., object]] = {}
    for name, function in (ARITHMETIC | COMPARISON).items():
        made[f"__{name}__"] = _binary(function)
    for name, function in ARITHMETIC.items():
        made[f"__r{name}__"] = _binary(_reflected(function))
    for name, unary in UNARY.items():
        made[f"__{name}__"] = _unary(unary)
    for name, method in made.items():
        method.__name__ = name
        method.__qualname__ = f"TensorClass.{name}"
    return made


def _binary(function: Function) -> Callable[[T, object], T]:
    def method(self: T, other: object, /) -> T:
        size = self._batch_size
        if type(other) is type(self):
            if other._batch_size != size:
                raise ValueError(
                    f"expected two {type(self).__name__} of one batch size, got {list(size)} and {list(other._batch_size)}"
                )
            return self._zip(function, other)
        if isinstance(other, (int, float, complex)) or (isinstance(other, Tensor) and other.dim() == 0):
            return self._map_with(function, other, size, self._device)
        if isinstance(other, Tensor):
            return self._map_with(_over_batch, (function, other, size), size, self._device)
        return NotImplemented

    return method


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
