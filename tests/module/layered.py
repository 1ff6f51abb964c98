"""Modules with optional, repeated and tied fields, and the plain modules that an expert would write for them."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.types import Device

from qten_gen import Module, ModuleDict, ModuleList, buffer, param, submodule


class Layer(Module):
    """A projection with an optional bias, gate and norm."""

    dim: int
    use_bias: bool = True
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.eye_)
    bias: nn.Parameter | None = param("dim", when="use_bias", initializer=partial(nn.init.constant_, val=0.5))
    gate: Tensor | None = buffer("dim", when="use_bias", initializer=partial(nn.init.constant_, val=2.0))
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="use_bias")

    def forward(self, x: Tensor) -> Tensor:
        y = nn.functional.linear(x, self.weight, self.bias)
        y = y if self.gate is None else y * self.gate
        return y if self.norm is None else self.norm(y)


class PlainLayer(nn.Module):
    """`Layer`, written by hand."""

    gate: Tensor | None
    norm: nn.LayerNorm | None

    def __init__(
        self, dim: int, use_bias: bool = True, device: Device = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(dim, dim, device=device, dtype=dtype))
        nn.init.eye_(self.weight)
        if use_bias:
            self.bias = nn.Parameter(torch.full((dim,), 0.5, device=device, dtype=dtype))
            self.register_buffer("gate", torch.full((dim,), 2.0, device=device, dtype=dtype))
            self.norm = nn.LayerNorm(dim, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
            self.register_buffer("gate", None)
            self.norm = None

    def forward(self, x: Tensor) -> Tensor:
        y = nn.functional.linear(x, self.weight, self.bias)
        y = y if self.gate is None else y * self.gate
        result: Tensor = y if self.norm is None else self.norm(y)
        return result


class Tower(Module):
    """A small language model: tied embeddings, repeated layers, a head for each task."""

    vocab: int
    dim: int
    depth: int = 2
    tasks: tuple[str, ...] = ("topic", "tone")
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    layers: ModuleList[Layer] = submodule(Layer, "dim", repeat="depth")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        scores = torch.cat([head(x) for head in self.heads.values()], -1)
        return nn.functional.linear(x, self.head) * scores.sum(-1, keepdim=True)


class PlainTower(nn.Module):
    """`Tower`, written by hand."""

    def __init__(
        self,
        vocab: int,
        dim: int,
        depth: int = 2,
        tasks: tuple[str, ...] = ("topic", "tone"),
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, device=device, dtype=dtype)
        self.layers = nn.ModuleList([PlainLayer(dim, device=device, dtype=dtype) for _ in range(depth)])
        self.heads = nn.ModuleDict({task: nn.Linear(dim, 1, device=device, dtype=dtype) for task in tasks})
        self.head = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        scores = torch.cat([head(x) for head in self.heads.values()], -1)
        return nn.functional.linear(x, self.head) * scores.sum(-1, keepdim=True)


def towers(dtype: torch.dtype | None = None) -> tuple[Tower, PlainTower]:
    """Both towers with equal weights."""
    torch.manual_seed(0)
    ours = Tower(7, 4, dtype=dtype)
    torch.manual_seed(0)
    return ours, PlainTower(7, 4, dtype=dtype)


def tokens() -> Tensor:
    """Some tokens, the same in every test."""
    return torch.tensor([[0, 1, 2], [3, 6, 5]])
