"""Boxes in images, as many as there are."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleDict, PerItem, TensorClass, Unbatched, submodule, virtual


class Label(Enum):
    CAT = 0
    DOG = 1


class Boxes(TensorClass):
    corners: Tensor
    scores: Tensor

    def area(self) -> Tensor:
        return (self.corners[..., 2:] - self.corners[..., :2]).prod(-1)

    def __matmul__(self, matrix: Tensor) -> Boxes:
        return self.replace(corners=self.corners @ matrix)


class Image(TensorClass):
    pixels: Tensor
    labels: PerItem[list[Label]]
    average: Unbatched[Tensor] | None = None


T = TypeVar("T", bound=Boxes)


class Scored(TensorClass, Generic[T]):
    inner: T
    score: Tensor


class Detector(Module):
    channels: int = 4
    scale: float = 1.0
    stem: nn.Conv2d = submodule(nn.Conv2d, 3, "channels", 3, padding=1)
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "channels", 4, keys=("corners", "offsets"))

    @virtual(cached=True)
    def grid(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.linspace(0, self.scale, self.channels, dtype=dtype, device=device)

    def forward(self, image: Image, /, *, threshold: float = 0.5) -> list[Boxes]:
        found = self.stem(image.pixels).mean((-1, -2)) + self.grid
        corners = self.heads["corners"](found) + self.heads["offsets"](found)
        return [Boxes(one[None], torch.full((1,), threshold), batch_size=[1]) for one in corners]
