"""The methods that entries of pointwise operations are made into: one function for each signature.

Each makes a closure of its own for an entry, in which nothing is left to be looked up, and which dynamo traces like any function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Literal, TypeVar

from torch import Tensor

from ..core.error_context import blame
from ..core.locks import refuse_if_frozen
from ..core.number_values import is_array
from ..core.stored import Stored
from ..methods.operands import Function, Operand, is_plain, no_operand, one, reflected, several, two, unequal
from .entries import documented

T = TypeVar("T", bound=Stored)


def operator(function: Function) -> Function:
    """A binary special method. Where it is not defined, Python asks the other operand."""
    name = function.__name__

    def method(self: T, other: Operand, /) -> T:
        if type(other) is type(self):
            if other._batch_size != self._batch_size:
                raise unequal(self, other)
            try:
                return self._zip(function, other)
            except RuntimeError as error:
                blame(name, [self, other], function, error)
                raise
        if isinstance(other, (int, float, complex)):
            return self._map_with(function, other, self._device)
        if isinstance(other, Tensor) or is_plain(other):
            return two(self, function, other, name)
        if is_array(other):
            no_operand(self, name, other)  # Python would go on to answer `batch == array` with False
        return NotImplemented  # type: ignore[no-any-return] # for Python to try the other operand

    return method


def operator_in_place(function: Function) -> Function:
    """A special method such as `__iadd__`. The other operand is never asked: it would make a new object."""
    name = function.__name__

    def method(self: T, other: Operand, /) -> T:
        refuse_if_frozen(self, f"{name} in place into")
        two(self, function, other, name)
        return self

    return method


def unary(function: Callable[[Tensor], Tensor], name: str) -> Function:
    """A method without other operands."""

    def method(self: T) -> T:
        return one(self, function, name)

    return method


def binary(function: Function, name: str) -> Function:
    """A method with one other operand."""

    def method(self: T, other: Operand) -> T:
        return two(self, function, other, name)

    return method


def scaled(function: Function, name: str) -> Function:
    """A binary method with a factor for the other operand."""

    def method(self: T, other: Operand, *, alpha: complex = 1) -> T:
        return two(self, function if alpha == 1 else partial(function, alpha=alpha), other, name)

    return method


def rounded(function: Function, name: str) -> Function:
    """A division, whose result may be rounded."""

    def method(self: T, other: Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> T:
        applied = function if rounding_mode is None else partial(function, rounding_mode=rounding_mode)
        return two(self, applied, other, name)

    return method


def multiplied(function: Function, name: str) -> Function:
    """A method that adds a product or quotient of two operands."""

    def method(self: T, tensor1: Operand, tensor2: Operand, *, value: complex = 1) -> T:
        return several(self, function if value == 1 else partial(function, value=value), (tensor1, tensor2), name)

    return method


def in_place(maker: Callable[..., Function], function: Function, name: str) -> Function:
    """The twin of a method that changes the object: `function` writes into its first tensor."""
    return documented(changing(maker(function, f"{name}_")), f"{name}_", f"`{name}`, in place.")


def changing(writing: Function) -> Function:
    """A method that returns its object, of a function that writes into the tensors; a frozen object is refused."""

    @wraps(writing)
    def method(self: T, *args: Any, **options: Any) -> T:
        refuse_if_frozen(self, f"{writing.__name__} in place into")
        writing(self, *args, **options)
        return self

    return method


def either_side(method: Function, function: Function, name: str) -> Function:
    """The handler of a binary torch function: the method of the left operand or, where that is a tensor, of the right one."""
    swapped = reflected(function)

    def handler(input: Any, other: Any, **options: Any) -> Any:
        if isinstance(input, Tensor) or is_plain(input):
            return two(other, reflected(partial(function, **options)) if options else swapped, input, name)
        return method(input, other, **options)

    return handler
