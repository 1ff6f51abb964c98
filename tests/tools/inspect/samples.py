"""Models to inspect: declared and plain ones."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, param, submodule


class Attention(Module):
    """Projections, and a buffer that is not saved."""

    width: int
    heads: int
    qkv: nn.Linear = submodule(nn.Linear, "width", "3*width")
    scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)


class Net(Module):
    """Blocks between an embedding and a head that is tied to it."""

    width: int
    heads: int = 4
    depth: int = 3
    embedding: nn.Parameter = param(100, "width", initializer=nn.init.normal_)
    blocks: ModuleList[Attention] = submodule(Attention, "width", "heads", repeat="depth")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    head: nn.Parameter = param(tie="embedding")


@dataclass
class Settings:
    """A configuration object."""

    width: int
    dtype: torch.dtype = torch.float32


def of_settings(settings: Settings, layers: int = 1) -> nn.Sequential:
    """A model from a configuration object."""
    return nn.Sequential(*(nn.Linear(settings.width, settings.width, dtype=settings.dtype) for _ in range(layers)))


class Truncated(nn.Module):
    """Reads values while it is made, and has a tensor that `.to` does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = [float(value) for value in torch.linspace(0, 1, 3)]
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(3, 3)))
        self.mask = torch.ones(3, 3)


class Shared(nn.Module):
    """Ties of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.again = self.first
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.first.weight
        self.scale = nn.Parameter(torch.ones(()), requires_grad=False)


class Tied(Module):
    """A head under the name of an embedding that comes after it in the order of state dicts."""

    width: int = 2
    embedding: nn.Embedding = submodule(nn.Embedding, 3, "width")
    head: nn.Parameter = param(tie="embedding.weight")


made = nn.Linear(2, 3)

not_a_model = 3


def raises() -> nn.Module:
    """Refuse."""
    raise ValueError("no such model")


def makes_no_module() -> int:
    """A number."""
    return 3
