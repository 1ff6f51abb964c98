"""A layer: sizes are expressions over its arguments."""

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule, virtual


class Attention(Module):
    """Attention of one head, over what came before."""

    dim: int
    length: int = 128
    qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    scale: Tensor = buffer("dim", persistent=False, initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Which positions see which, of shape `(length, length)`."""
        return torch.ones(self.length, self.length, dtype=dtype, device=device).tril()

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = nn.functional.linear(self.norm(x), self.qkv).chunk(3, dim=-1)
        weights = query * self.scale @ key.mT - 1e9 * (1 - self.causal)
        return x + weights.softmax(-1) @ value
