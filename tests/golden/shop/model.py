"""A declaration of every kind, as a user writes it."""

from typing import Any, overload

import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, buffer, field, param, submodule, virtual


def uniform_(tensor: Tensor) -> None:
    """Fill with one value in equal shares."""
    tensor.fill_(1 / tensor.numel())


class Point(TensorClass):
    """A point and how sure we are of it."""

    position: Tensor
    weight: Tensor = field(default_factory=lambda: torch.ones(()))


class Batch(TensorClass):
    """Token ids with their marks."""

    tokens: Tensor
    point: Point
    mask: Tensor | None = None
    source: str = "train"
    tags: list[str] = field(default_factory=list)

    @property
    def lengths(self) -> Tensor:
        """Number of tokens in each row."""
        return torch.full(self.batch_size, self.tokens.shape[-1])


class Attention(Module):
    """Weights over the rows of a batch."""

    dim: int
    heads: int = 8
    qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    scale: Tensor = buffer("heads", persistent=False, initializer=uniform_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Lower triangle of ones."""
        return torch.ones(self.dim, self.dim, dtype=dtype, device=device).tril()

    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: Batch) -> Tensor: ...
    def forward(self, x: Any) -> Tensor:
        """Normalise and project: `(..., dim)` to `(..., 3 * dim)`."""
        projected: Tensor = nn.functional.linear(self.norm(x), self.qkv)
        return projected


@Attention.register(Batch)
def _(attention: Attention, batch: Batch) -> Tensor:
    return batch.tokens.float().mean()
