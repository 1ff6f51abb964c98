"""Some of the items, or other values in some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import torch
from torch import Size, Tensor
from torch._subclasses.fake_tensor import FakeTensor

from ..core.blame import blame
from ..core.error_text import describe
from ..core.sizes import Dim, dimension, over_batch
from ..core.stored import Stored
from ..methods.operands import Operand, refuse_unbatched, same_batch_size, several
from ..methods.reshaping import with_names
from .entries import changing

T = TypeVar("T", bound=Stored)


def gather(self: T, dim: Dim, index: Tensor) -> T:
    """The items at the positions `index` along a batch dimension; the result has the batch size of `index`'s shape.

        best = batch.gather(1, scores.argmax(1, keepdim=True))

    Raises:
        TypeError: `index` is no tensor.
        ValueError: `index` has another number of dimensions than the batch.
        RuntimeError: a position is out of range.
    """
    batch_ndim = len(self._batch_size)
    at = dimension(self, dim)
    if not isinstance(index, Tensor):
        raise TypeError(f"gather: expected a Tensor of positions, got {describe(index)}")
    if index.dim() != batch_ndim:
        raise ValueError(f"gather: expected an index of {batch_ndim} dimensions, got shape {list(index.shape)}")
    return with_names(self._rearrange(_gather, (at, index, []), index.shape), self._names)


def _gather(tensor: Tensor, argument: tuple[int, Tensor, list[tuple[Size, Tensor]]]) -> Tensor:
    """`torch.gather` with an index over the batch dimensions. The list keeps what it was expanded to for earlier fields."""
    dim, index, known = argument
    beyond = tensor.shape[index.dim() :]
    if not beyond:
        return torch.gather(tensor, dim, index)
    for shape, expanded in known:
        if shape == beyond:
            return torch.gather(tensor, dim, expanded)
    made = index.reshape(*index.shape, *(1,) * len(beyond)).expand(*index.shape, *beyond)
    if not torch.compiler.is_compiling():  # shapes of symbols are not compared: that would make them special
        known.append((beyond, made))
    return torch.gather(tensor, dim, made)


def masked_fill(self: T, mask: T | Tensor, value: float) -> T:
    """The object with `value` wherever a mask is true; dtypes stay.

    >>> batch = Batch(torch.tensor([[1, 2], [3, 4]]), batch_size=2)
    >>> batch.masked_fill(torch.tensor([True, False]), 0).tokens.tolist()
    [[0, 0], [3, 4]]

    Args:
        mask: A bool tensor that broadcasts over the batch size, so that it selects whole items; or an object with bool tensors
            of the shapes of the fields, such as the result of a comparison, which selects numbers.

    Raises:
        ValueError: the mask is a tensor that does not broadcast over the batch size, or an object of another batch size.
        RuntimeError: the mask is not of bool.
    """
    return several(self, torch.masked_fill, (mask, value), "masked_fill")


@changing
def masked_fill_(self: T, mask: T | Tensor, value: float) -> T:
    """Write a number where the mask is true; it broadcasts over the batch size, or is an object of bool tensors."""
    return several(self, Tensor.masked_fill_, (mask, value), "masked_fill_")


def where(self: T, condition: T | Tensor, other: Operand) -> T:
    """The values of the object where a condition is true, and of `other` elsewhere.

    >>> batch = Batch(torch.tensor([1, -2]), batch_size=2)
    >>> batch.where(batch > 0, 0).tokens
    tensor([1, 0])

    Args:
        condition: A bool tensor that broadcasts over the batch size, or an object with bool tensors of the shapes of the fields.
        other: An object of the same class and batch size, a number, or a tensor that broadcasts over the batch size.

    Raises:
        TypeError: `other` is something else.
        ValueError: a batch size is another, a tensor does not broadcast over it, or static fields differ.
    """
    if type(other) is type(self) and isinstance(condition, Tensor) and (self._static or self.__ragged__):
        return _items_of_two(self, condition, other)
    return several(self, _where, (condition, other), "where")


def _items_of_two(self: T, condition: Tensor, other: T) -> T:
    """Items of two objects, with the values that their PerItem fields have for them; static fields have to be the same."""
    same_batch_size(self, other)
    refuse_unbatched(self)
    size = self._batch_size

    def choose(tensors: Sequence[Tensor]) -> Tensor:
        first, second = tensors
        mask = over_batch(condition, size, first.dim() - len(size))
        is_fake = isinstance(mask, FakeTensor)
        if is_fake == isinstance(first, FakeTensor) and (first.device == mask.device or not first.is_cpu):
            return torch.where(mask, first, second)
        # The positions of PerItem values are real, and in main memory. Those that nobody can know stay.
        return first if is_fake or mask.is_meta else torch.where(mask.cpu(), first, second)

    try:
        return with_names(self._join(choose, [self, other], size), self._names)
    except RuntimeError as error:
        blame("where", [self, other], lambda *tensors: choose(tensors), error)
        raise


def _where(tensor: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    return torch.where(condition, tensor, other)


def where_function(
    condition: Stored | Tensor, input: Stored | Operand | None = None, other: Operand | None = None
) -> Stored:
    """`torch.where`, any of whose arguments may be the object.

    Raises:
        TypeError: there is a condition alone. Each field would have as many positions as it has numbers that are true.
    """
    if input is None or other is None:  # torch refuses one of the two alone
        raise TypeError(
            f"torch.where with a condition alone is not defined for {type(condition).__name__}; "
            "use it on one field, and index the object with what it gives"
        )
    if isinstance(input, Stored):
        return where(input, condition, other)
    if isinstance(other, Stored):
        return several(other, _where_not, (condition, input), "where")
    return several(cast("Stored", condition), torch.where, (input, other), "where")


def _where_not(tensor: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    return torch.where(condition, other, tensor)
