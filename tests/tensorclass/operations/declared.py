"""The class that the table is tried on, and its tensors by path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from qten_gen import TensorClass


class Inner(TensorClass):
    """A nested object, whose batch size may be longer than that of its owner."""

    q: Tensor


class Batch(TensorClass):
    """Tensors with and without dimensions beyond the batch, an optional one that is None, a nested object, a static field."""

    x: Tensor
    y: Tensor
    inner: Inner
    none: Tensor | None = None
    name: str = "train"


SIZE = (2, 3)


def example(seed: int = 0, size: tuple[int, ...] = SIZE, make: Callable[..., Tensor] = torch.rand) -> Batch:
    """A batch of numbers from 0 to 1, without ties; its nested object has one batch dimension more."""
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape: int) -> Tensor:
        return make(*size, *shape, generator=generator)

    return Batch(numbers(4), numbers(), Inner(numbers(5, 2), batch_size=(*size, 5)), name="test", batch_size=size)


def integers(seed: int = 0, size: tuple[int, ...] = SIZE) -> Batch:
    """A batch of whole numbers from 1 to 7."""

    def make(*shape: int, generator: torch.Generator) -> Tensor:
        return torch.randint(1, 8, shape, generator=generator)

    return example(seed, size, make)


def tensors(value: Any) -> dict[str, Tensor]:
    """Every tensor of a batch by path."""
    return {"x": value.x, "y": value.y, "inner.q": value.inner.q}
