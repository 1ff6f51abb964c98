"""Batches and networks."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleDict, PerItem, Sequential, TensorClass, buffer, field, sequential, submodule

Task = Literal["real", "kind"]


class Noise(TensorClass):
    z: Tensor

    @classmethod
    def sample(cls, n: int, dim: int = 4) -> Noise:
        return cls(torch.randn(n, dim), batch_size=[n])


class Picture(TensorClass):
    pixels: Tensor
    kind: Tensor | None = None

    def noisy(self, sigma: float) -> Picture:
        return self.replace(pixels=self.pixels + sigma * torch.randn_like(self.pixels))


class Photo(Picture):
    paths: PerItem[str] = field(kw_only=True)


class Verdict(TensorClass):
    scores: dict[str, Tensor]
    task: Task = "real"

    def __getattr__(self, name: str) -> Tensor:
        try:
            return self.scores[name]
        except KeyError:
            raise AttributeError(name) from None

    def worst(self) -> Verdict:
        return self[self.scores["real"].argmin()]


class Generator(Module):
    dim: int = 4
    size: int = 6
    body: Sequential[nn.Linear | nn.ReLU] = sequential(
        submodule(nn.Linear, "dim", "2*dim"), nn.ReLU, submodule(nn.Linear, "2*dim", "size")
    )

    def forward(self, noise: Noise) -> Picture:
        return Picture(self.body(noise.z), batch_size=noise.batch_size)


class Discriminator(Module):
    size: int = 6
    tasks: tuple[str, ...] = ("real", "kind")
    temperature: Tensor = buffer(initializer=nn.init.ones_)
    stem: nn.Linear = submodule(nn.Linear, "size", 5)
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, 5, 1, keys="tasks")

    def features(self, pixels: Tensor) -> Tensor:
        hidden: Tensor = self.stem(pixels)
        return hidden.relu() / self.temperature

    def forward(self, pixels: Tensor) -> dict[str, Tensor]:
        hidden = self.features(pixels)
        return {name: head(hidden)[..., 0] for name, head in self.heads.items()}
