"""Which dimensions of every tensor an operation works on, from what a caller says of the batch dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from torch import Size, Tensor

from ..core.contents import contents
from ..core.dimension_names import Names
from ..core.stored import Stored
from ..core.tensor_shapes import Dim, dimension, listed


T = TypeVar("T", bound=Stored)

Dims: TypeAlias = Dim | Sequence[Dim] | Literal["feature"] | None
"""Batch dimensions; or those that fields have beyond them; or, where it is None, all of both."""


def batch_dimensions(self: Stored, dims: Dim | Sequence[Dim], name: str) -> tuple[int, ...]:
    """Batch dimensions counted from the front, each once.

    Raises:
        IndexError: there is no such batch dimension.
        ValueError: there are none, or one is given twice.
    """
    wanted = listed(dims)
    found = tuple([dimension(self, dim) for dim in wanted])
    if not found or len(set(found)) < len(found):
        raise ValueError(f"{type(self).__name__}.{name}: expected different batch dimensions, got {list(wanted)}")
    return found


def with_names(out: T, names: Names | None) -> T:
    """A new object with names for its batch dimensions."""
    out._names = names
    return out


def of_arguments(function: Callable[..., Tensor]) -> Callable[[Tensor, tuple[Any, ...]], Tensor]:
    """A function of a tensor and further arguments as primitives call it, with these as one."""

    def applied(tensor: Tensor, argument: tuple[Any, ...]) -> Tensor:
        return function(tensor, *argument)

    return applied


def reduced_size(size: Size, dims: Sequence[int], keepdim: bool) -> Size:
    """A batch size after the given dimensions were reduced."""
    if keepdim:
        return Size([1 if at in dims else length for at, length in enumerate(size)])
    return Size([length for at, length in enumerate(size) if at not in dims])


def all_dimensions(tensor: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """A tensor and all its dimensions; one without dimensions gets one."""
    return (tensor, tuple(range(tensor.dim()))) if tensor.dim() else (tensor.unsqueeze(0), (0,))


def event_dimensions(tensor: Tensor, batch_ndim: int) -> tuple[Tensor, tuple[int, ...]]:
    """A tensor and its dimensions beyond `batch_ndim` batch dimensions; where it has none, one is added."""
    if tensor.dim() == batch_ndim:
        return tensor.unsqueeze(-1), (batch_ndim,)
    return tensor, tuple(range(batch_ndim, tensor.dim()))


def level(self: Stored) -> None:
    """Set the batch size of a new object for the objects nested in it: none of their own dimensions are left."""
    if self._nested:
        values = contents(self)
        for name in self._nested:
            inner = values[name]
            if isinstance(inner, Stored):
                inner._batch_size = self._batch_size
                level(inner)
