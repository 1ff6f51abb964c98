"""A small vision transformer."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Self-attention over patches."""

    def __init__(self, width: int, heads: int = 2, dropout: float = 0.0) -> None:
        super().__init__()
        assert width % heads == 0
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)  # mixes the heads
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value)
        mixed: Tensor = self.drop(self.out(seen.transpose(1, 2).flatten(2)))
        return x + mixed


class Perceptron(nn.Module):
    def __init__(self, width: int, growth: int = 4) -> None:
        super().__init__()
        hidden = width * growth
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        refined: Tensor = self.down(functional.gelu(self.up(self.norm(x))))
        return x + refined


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.perceptron = Perceptron(width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.attention(x)
        return x + self.perceptron(x)


class Vision(nn.Module):
    """Images of shape `(batch, 3, side, side)` to scores of shape `(batch, classes)`."""

    def __init__(
        self, side: int = 16, patch: int = 4, width: int = 16, depth: int = 2, heads: int = 2, classes: int = 5
    ) -> None:
        super().__init__()
        patches = (side // patch) ** 2
        self.cut = nn.Conv2d(3, width, kernel_size=patch, stride=patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, patches + 1, width))
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)
        self.register_buffer("mean", torch.full((3, 1, 1), 0.5), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        x = self.cut(images - self.mean).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return torch.as_tensor(self.head(self.norm(x)[:, 0]))
