"""Modules that the tests here share, and another default dtype."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule, virtual


def ramp_(tensor: Tensor) -> None:
    """Fill with 0, 1, 2, ..."""
    tensor.copy_(torch.arange(tensor.numel(), dtype=tensor.dtype).view_as(tensor))


class Block(Module):
    """A projection with every kind of field."""

    dim: int
    heads: int = 2
    weight: nn.Parameter = param("3*dim", "dim", initializer=nn.init.ones_)
    shift: nn.Parameter = param("dim", initializer=ramp_)
    scale: Tensor = buffer("heads", initializer=ramp_)
    noise: Tensor = buffer("dim", persistent=False, initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim", eps=1e-3)
    drop: nn.Dropout = submodule(nn.Dropout, 0.0)

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, self.dim, dtype=dtype, device=device).tril()

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.norm(x) @ self.causal + self.shift
        out: Tensor = self.drop(nn.functional.linear(mixed, self.weight))
        return out * self.scale.sum() + self.noise.sum()


class Kept(nn.Module):
    """Keeps what it is given."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__()
        self.kept: Any = (*values, *named.values())


def batch(dim: int = 4) -> Tensor:
    """Rows to run a block on, the same in every test."""
    return torch.linspace(-1, 1, 3 * dim).view(3, dim)


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Another default dtype of torch inside of the block."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
