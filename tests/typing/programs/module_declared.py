"""Declarations that the module_*.py programs use."""

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, field, param, submodule, virtual


class Attention(Module):
    dim: int
    heads: int = 8
    tags: list[str] = field(default_factory=list, kw_only=True)
    qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, self.dim, dtype=dtype, device=device).tril()

    @virtual
    def ones(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, dtype=dtype, device=device)

    def forward(self, x: Tensor, *, factor: float = 1.0) -> Tensor:
        normed: Tensor = self.norm(x)
        return normed * factor


class Cross(Attention):
    context: int = 4

    def forward(self, x: Tensor, *, factor: float = 1.0, offset: int = 0) -> Tensor:
        return super().forward(x, factor=factor) + offset


class Classic(Module):
    weight: nn.Parameter

    def __init__(self, n: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        return x * self.weight, 1
