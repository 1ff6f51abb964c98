"""What a row of an operation says, and what its functions are made with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

OTHER = object()
"""Stands for a second object. `expected` gets its tensor as the next argument."""


@dataclass(frozen=True)
class Row:
    """An operation and what it gives."""

    expected: Callable[..., Any]
    """The result for one tensor, from the tensor and those of the objects among the arguments."""
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    batch_size: tuple[int, ...] = (2, 3)
    """Batch size of the result."""
    whole: bool = False
    """Whether the numbers are whole."""
    leveled: bool = False
    """Whether nothing is left of the dimensions of nested objects."""


def beyond(tensor: Tensor) -> tuple[int, ...]:
    """The size of the dimensions that a tensor has beyond the batch."""
    return tuple(tensor.shape[2:])


def over(small: Tensor, tensor: Tensor) -> Tensor:
    """A tensor over the batch, shaped to broadcast over the tensor of a field."""
    return small.reshape(*small.shape, *(1,) * (tensor.dim() - 2))
