"""The decoder of `model`, written by hand for comparison."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(
            rotate(query, rotary), rotate(key, rotary), value, is_causal=True
        )
        result: Tensor = self.out(seen.transpose(1, 2).flatten(2))
        return result


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.perceptron_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), rotary)
        result: Tensor = x + self.down(functional.gelu(self.up(self.perceptron_norm(x)), approximate="tanh"))
        return result


class Decoder(nn.Module):
    rotary: Tensor

    def __init__(
        self, vocabulary: int = 256, context: int = 64, width: int = 96, heads: int = 4, depth: int = 3
    ) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(vocabulary, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = self.embedding
        pairs = width // heads // 2
        angles = torch.outer(torch.arange(context), 10_000 ** -(torch.arange(pairs) / pairs))
        self.register_buffer("rotary", torch.stack([angles.cos(), angles.sin()]), persistent=False)
        nn.init.normal_(self.embedding, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        x = functional.embedding(tokens, self.embedding)
        for block in self.blocks:
            x = block(x, self.rotary)
        return functional.linear(self.norm(x), self.head)


def rotate(x: Tensor, rotary: Tensor) -> Tensor:
    cos, sin = rotary[:, : x.shape[-2]]
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)
