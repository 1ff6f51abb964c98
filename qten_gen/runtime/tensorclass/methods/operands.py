"""A function of tensors applied to an object and other operands, and the errors when that is impossible.

An operand is an object of the same class and batch size, a number, or a tensor that broadcasts over the batch size: its last
dimension is the last batch dimension, whatever dimensions a field has beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeAlias, TypeVar

from torch import Size, Tensor

from ..core.blame import blame
from ..core.contents import ragged_fields, unbatched_leaves
from ..core.error_text import disambiguation
from ..core.other_libraries import is_array, is_number
from ..core.sizes import over_batch
from ..core.stored import Stored

T = TypeVar("T", bound=Stored)

Function = Callable[..., Any]  # tensors, numbers and objects in any mixture
"""A function of torch, or a method made of one."""

Operand: TypeAlias = "Stored | Tensor | complex"
"""Every operand that operations take. Which class an object has to be of is for the types of the methods to say."""


def one(self: T, function: Callable[[Tensor], Tensor], name: str) -> T:
    """`function` applied to every tensor.

    Raises:
        RuntimeError: torch refuses one; the field is named.
    """
    try:
        return self._map(function)
    except RuntimeError as error:
        blame(name, [self], function, error)
        raise


def two(self: T, function: Function, other: object, name: str) -> T:
    """`function` applied to every tensor and the other operand.

    Raises:
        TypeError: `other` is not an operand.
        ValueError: the batch sizes differ, or a tensor does not broadcast.
        RuntimeError: torch refuses a tensor; the field is named.
    """
    if type(other) is type(self):
        same_batch_size(self, other)
        try:
            return self._zip(function, other)
        except RuntimeError as error:
            blame(name, [self, other], function, error)
            raise
    applied: Function = function
    argument: Any = other
    if not is_plain(other):
        if not isinstance(other, Tensor):
            no_operand(self, name, other)
        refuse_over_batch(self)
        applied, argument = _over_batch, (function, other, self._batch_size)
    try:
        return self._map_with(applied, argument, self._device)
    except RuntimeError as error:
        blame(name, [self], lambda tensor: applied(tensor, argument), error)
        raise


def several(self: T, function: Function, operands: tuple[object, ...], name: str) -> T:
    """`function` applied to every tensor and several operands, objects among them.

    Raises:
        TypeError: one is not an operand.
        ValueError: the batch sizes differ, or a tensor does not broadcast.
        RuntimeError: torch refuses a tensor; the field is named.
    """
    cls = type(self)
    objects: list[Any] = [operand for operand in operands if type(operand) is cls]
    for operand in operands:
        if type(operand) is cls:
            same_batch_size(self, operand)
        elif not is_plain(operand):
            if not isinstance(operand, Tensor):
                no_operand(self, name, operand)
            refuse_over_batch(self)
    kinds = tuple(None if type(operand) is cls else operand for operand in operands)
    argument = (function, kinds, self._batch_size)
    try:
        if not objects:
            return self._map_with(_call, argument, self._device)
        rest = objects[-1]._map(_alone)
        for found in reversed(objects[:-1]):
            rest = found._zip(_in_front, rest)
        return self._zip(partial(_call_among, argument), rest)
    except RuntimeError as error:
        blame(name, [self, *objects], lambda tensor, *others: _call_among(argument, tensor, others), error)
        raise


def same_batch_size(self: Stored, other: Stored) -> None:
    """Compare what two objects have to have in common.

    Raises:
        ValueError: the batch sizes differ.
    """
    if other._batch_size != self._batch_size:
        raise unequal(self, other)


def unequal(self: Stored, other: Stored) -> ValueError:
    """The error about two objects of different batch sizes, to be raised."""
    return ValueError(
        f"expected two {type(self).__name__} of one batch size, got {list(self._batch_size)} and {list(other._batch_size)}"
    )


def is_plain(other: object) -> bool:
    """True if it is a number, NumPy's included, or a tensor without dimensions: alike for every item."""
    return other.dim() == 0 if isinstance(other, Tensor) else is_number(other)


def refuse_over_batch(self: Stored) -> None:
    """Raise the error of a tensor with one value an item, where a field has no items to apply it to, or items of several rows."""
    for where, _ in ragged_fields(self):
        raise TypeError(
            f"{where}: a Tensor over the batch size does not apply to Ragged items; repeat it for the rows: "
            "tensor[ragged.item_index]"
        )
    refuse_unbatched(self)


def refuse_unbatched(self: Stored) -> None:
    """Raise the error of one value an item, where a field is the same for all of them."""
    for where, _ in unbatched_leaves(self):
        raise TypeError(
            f"{where} is the same for a whole batch, so a Tensor over the batch size does not apply to it; "
            "compute field by field"
        )


def no_operand(self: Stored, name: str, other: object) -> NoReturn:
    """Raise the error of an operand of another type."""
    cls = type(self).__name__
    got = f"{type(other).__name__}{disambiguation(type(self), other)}"
    if is_array(other):
        got += "; torch.from_numpy makes a Tensor of it"
    raise TypeError(f"{cls}.{name}: expected {cls}, a Tensor or a number, got {got}")


def reflected(function: Function) -> Function:
    """The function with its operands exchanged: the object is the right one."""

    def exchanged(tensor: Tensor, other: object) -> object:
        return function(other, tensor)

    return exchanged


def _over_batch(tensor: Tensor, argument: tuple[Function, Tensor, Size]) -> Tensor:
    function, other, batch_size = argument
    result: Tensor = function(tensor, over_batch(other, batch_size, tensor.dim() - len(batch_size)))
    return result


# Of several objects the tensors of a field are gathered in tuples first, because `_zip` takes two objects at a time.


def _alone(tensor: Tensor) -> Any:
    return (tensor,)


def _in_front(tensor: Tensor, others: Any) -> Any:
    return (tensor, *others)


def _call(tensor: Tensor, argument: tuple[Function, tuple[object, ...], Size]) -> Tensor:
    return _call_among(argument, tensor, ())


def _call_among(argument: tuple[Function, tuple[object, ...], Size], tensor: Tensor, others: Any) -> Tensor:
    """Call the function with the operands in their order; None stands for the next of `others`."""
    function, kinds, batch_size = argument
    given = list(others)
    event_ndim = tensor.dim() - len(batch_size)
    arguments: list[object] = []
    for kind in kinds:
        if kind is None:
            arguments.append(given.pop(0))
        else:
            arguments.append(over_batch(kind, batch_size, event_ndim) if isinstance(kind, Tensor) else kind)
    result: Tensor = function(tensor, *arguments)
    return result
