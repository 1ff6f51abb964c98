"""A module whose sequences, choices, lists of parameters and computed values read a configuration object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, Sequential, buffer, choice, derived, param, sequential, submodule


@dataclass
class Config:
    dim: int = 8
    heads: int = 2
    depth: int = 3
    act: str = "gelu"
    bias: bool = True


class Step(Module):
    dim: int
    layer: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)


def ramp(module: Composed) -> Tensor:
    return torch.arange(module.head_dim, dtype=torch.float32)


class Composed(Module):
    config: Config
    head_dim: int = derived("config.dim // config.heads")
    body: Sequential[nn.Module] = sequential(
        submodule(nn.Linear, "config.dim", "2 * head_dim", bias="config.bias and head_dim > 1"),
        submodule(nn.LayerNorm, "2 * head_dim", when="config.bias and config.depth > 1"),
        submodule(Step, "config.dim", "index * 10", repeat="config.depth - 1"),
    )
    rows: ModuleList[Sequential[nn.Module]] = sequential(
        submodule(nn.Linear, "config.dim", "head_dim * (index + 1)"),
        submodule(nn.Dropout, when="index % 2 == 0"),
        repeat="config.depth",
    )
    kept: Sequential[nn.ReLU | nn.GELU] | None = sequential(nn.ReLU, when="config.act == 'gelu'")
    activation: nn.ReLU | nn.GELU = submodule(choice("config.act", {"relu": nn.ReLU, "gelu": nn.GELU}))
    either: nn.ReLU | nn.GELU | None = submodule(
        choice("config.act", {"relu": nn.ReLU, "gelu": partial(nn.GELU, "tanh")}), when="config.bias"
    )
    wide: nn.ReLU | nn.GELU = submodule(choice("head_dim > 2", {True: nn.ReLU, False: nn.GELU}))
    scales: nn.ParameterList = param("head_dim + index", repeat="config.depth", initializer=nn.init.zeros_)
    mask: Tensor | None = buffer("head_dim", value=ramp, when="config.bias and config.heads > 1")
