"""A text encoder as repositories write it, with `qten_gen.Module` in the place of `nn.Module`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qten_gen import Module


class Block(Module):
    def __init__(self, width: int, causal: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)
        if causal:
            self.register_buffer("mask", torch.ones(8, 8).tril())
        else:
            self.register_buffer("mask", None)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[-2]
        mask = self.get_buffer("mask")[:length, :length] if "mask" in self.state_dict() else torch.ones(length, length)
        mixed: Tensor = self.mix(self.norm(x))
        return x + mask @ mixed


class Encoder(Module):
    def __init__(self, width: int, depth: int, limit: float | None = None) -> None:
        super().__init__()
        self.limit = limit
        self.stem = Block(width, causal=False)
        self.blocks = nn.ModuleList([Block(width, causal=True) for _ in range(depth)])
        self.register_buffer("positions", torch.zeros(8, width))
        self.register_parameter("scale", nn.Parameter(torch.ones(width)))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x + self.get_buffer("positions")[: x.shape[-2]])
        for block in self.blocks:
            x = block(x)
        return x if self.limit is None else x.clamp(max=self.limit)


class Tower(Encoder):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__(width, depth, limit=10.0)
        self.head = Block(width, causal=False)
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(super().forward(x) - self.get_buffer("mean"))
