"""Modules with every kind of state, for the tests of this folder."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleDict, ModuleList, buffer, param, submodule, virtual


class Block(Module):
    """Parameters and buffers of every kind, and layers of torch below."""

    dim: int
    layer: int = 0
    use_bias: bool = True
    weight: nn.Parameter = param("dim", "dim", initializer="scaled")
    bias: nn.Parameter | None = param("dim", when="use_bias", initializer=nn.init.zeros_)
    frozen: nn.Parameter = param("dim", requires_grad=False, initializer=lambda tensor: tensor.normal_().mul_(3))
    steps: Tensor = buffer("dim", dtype=torch.int64, initializer=nn.init.ones_)
    table: Tensor = buffer("dim", persistent=False, initializer=partial(nn.init.constant_, val=0.25))
    exact: Tensor = buffer(2, dtype=torch.float64, initializer=nn.init.ones_)
    scale: Tensor | None = buffer("dim", when="use_bias", initializer=lambda tensor: tensor.fill_(2))
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="use_bias")
    attention: nn.MultiheadAttention = submodule(nn.MultiheadAttention, "dim", 2)

    def scaled(self, tensor: Tensor) -> None:
        nn.init.normal_(tensor, std=1 / (self.layer + 1))

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, self.dim, dtype=torch.bool, device=device).tril()


class Decoder(Module):
    """Repeated blocks between an embedding and its transpose."""

    vocab: int
    dim: int
    depth: int = 2
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim", padding_idx=0)
    blocks: ModuleList[Block] = submodule(Block, "dim", layer="index", repeat="depth")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys=("left", "right"))
    recurrent: nn.LSTM = submodule(nn.LSTM, "dim", "dim")
    statistics: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "dim")
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")


class Foreign(nn.Module):
    """As in transformers: it initialises the layers of torch in it, computes a buffer, and keeps a tensor of no registry."""

    table: Tensor

    def __init__(self, dim: int, value: float = 0.5) -> None:
        super().__init__()
        self.value = value
        self.layers = nn.ModuleList([nn.Linear(dim, dim) for _ in range(2)])
        self.register_buffer("table", 1 / (10 ** (torch.arange(dim) / dim)), persistent=False)
        self.offsets = torch.arange(dim)
        self.apply(self._init_weights)

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.constant_(module.bias, self.value)


class Holding(Module):
    dim: int
    foreign: ModuleList[Foreign] = submodule(Foreign, "dim", repeat=2)


def tensors(module: nn.Module) -> dict[str, Tensor]:
    """Every parameter and buffer of a module by name, ties and non-persistent buffers included."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    return {**parameters, **dict(module.named_buffers(remove_duplicate=False))}


def assert_same(one: nn.Module, other: nn.Module) -> None:
    """Both modules have the same tensors, bit for bit, of the same kinds."""
    mine, others = tensors(one), tensors(other)
    assert list(mine) == list(others)
    for name, tensor in mine.items():
        twin = others[name]
        assert (type(tensor), tensor.dtype, tensor.requires_grad) == (type(twin), twin.dtype, twin.requires_grad), name
        assert tensor.stride() == twin.stride(), name
        torch.testing.assert_close(tensor, twin, rtol=0, atol=0, msg=name)
