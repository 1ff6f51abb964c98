"""The same decoder, written by hand for nn.Module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .model import DecoderConfig


class Norm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class Attention(nn.Module):
    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.key_heads = config.heads if config.key_heads is None else config.key_heads
        self.head_dim = config.dim // config.heads
        self.query = nn.Linear(config.dim, config.heads * self.head_dim, bias=config.bias)
        self.key = nn.Linear(config.dim, self.key_heads * self.head_dim, bias=config.bias)
        self.value = nn.Linear(config.dim, self.key_heads * self.head_dim, bias=config.bias)
        self.out = nn.Linear(config.heads * self.head_dim, config.dim, bias=config.bias)
        self.gate = nn.Parameter(torch.zeros(self.heads)) if self.key_heads < self.heads else None

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (
            layer(x).unflatten(-1, (-1, self.head_dim)) for layer in (self.query, self.key, self.value)
        )
        repeated = self.heads // self.key_heads
        key, value = key.repeat_interleave(repeated, -2), value.repeat_interleave(repeated, -2)
        weights = torch.einsum("...qhd,...khd->...hqk", query, key).mul(self.head_dim**-0.5).softmax(-1)
        mixed = torch.einsum("...hqk,...khd->...qhd", weights, value)
        result: Tensor = self.out((mixed if self.gate is None else mixed * self.gate.exp()[:, None]).flatten(-2))
        return result


class FeedForward(nn.Module):
    def __init__(self, config: DecoderConfig, index: int) -> None:
        super().__init__()
        hidden = config.hidden or int(2 * 4 * config.dim / 3)
        hidden = config.multiple_of * ((hidden + config.multiple_of - 1) // config.multiple_of)
        self.up = nn.Linear(config.dim, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, config.dim, bias=False)
        self.scale = nn.Parameter(torch.full((config.dim,), (2 * (index + 1)) ** -0.5))

    def forward(self, x: Tensor) -> Tensor:
        up, gate = self.up(x).chunk(2, -1)
        result: Tensor = self.down(nn.functional.silu(gate) * up) * self.scale
        return result


class Block(nn.Module):
    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.attention_norm = Norm(config.dim, eps=config.eps)
        self.attention = Attention(config)
        self.norm = Norm(config.dim, eps=config.eps)
        self.network = FeedForward(config, layer)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        result: Tensor = x + self.network(self.norm(x))
        return result


class Decoder(nn.Module):
    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.dim)
        self.blocks = nn.ModuleList([Block(config, index) for index in range(config.depth)])
        self.adapters = nn.ModuleList([Norm(config.dim) for index in range(config.depth) if index % 2 == 1])
        pairs = zip(config.widths, config.widths[1:], strict=False)
        self.narrowing = nn.ModuleList([nn.Linear(wide, narrow) for wide, narrow in pairs])
        self.register_buffer("positions", torch.full((config.depth, min(config.widths)), 0.5))
        self.head = None if config.tied else nn.Linear(config.dim, config.vocab, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index % 2 == 1:
                x = self.adapters[index // 2](x)
        result: Tensor = x @ self.embed.weight.T if self.head is None else self.head(x)
        return result
