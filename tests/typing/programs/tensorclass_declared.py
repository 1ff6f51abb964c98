"""Declarations that the tensorclass_*.py programs use."""

from typing import Generic, Self, TypeVar

import torch
from torch import Tensor

from qten_gen import TensorClass, field

T = TypeVar("T", bound=str | bytes)


class Point(TensorClass):
    position: Tensor
    weight: Tensor = field(default_factory=lambda: torch.ones(()))


class Batch(TensorClass):
    tokens: Tensor
    point: Point
    mask: Tensor | None = None
    source: str = "train"
    tags: list[str] = field(default_factory=list, kw_only=True)

    @property
    def lengths(self) -> Tensor:
        return torch.full(self.batch_size, self.tokens.shape[-1])

    def first(self) -> Self:
        return self[0].clone()


class Labelled(Batch):
    labels: Tensor | None = None

    def clone(self, recurse: bool = True) -> Self:
        return super().clone(recurse)


class Fixed(TensorClass, frozen=True):
    x: Tensor
    name: str = ""


class FixedChild(Fixed, frozen=True):
    y: Tensor | None = None


class Pair(TensorClass, Generic[T]):
    left: Tensor
    extra: T
