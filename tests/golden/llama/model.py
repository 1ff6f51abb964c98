"""A decoder in the manner of Llama: sizes from a configuration object, derived values, checks, children told apart by index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, check, derived, param, submodule


@dataclass(frozen=True)
class DecoderConfig:
    """What the decoder is made of."""

    vocab: int = 32
    dim: int = 16
    depth: int = 4
    heads: int = 4
    key_heads: int | None = None
    hidden: int | None = None
    multiple_of: int = 8
    eps: float = 1e-6
    bias: bool = False
    tied: bool = False
    widths: tuple[int, ...] = (16, 8, 4)


class Norm(Module):
    """A root mean square norm."""

    dim: int
    eps: float = 1e-6
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class Attention(Module):
    """Attention with fewer keys than queries."""

    config: DecoderConfig
    check("config.dim % config.heads == 0")
    check("heads % key_heads == 0")
    heads: int = derived("config.heads")
    key_heads: int = derived("config.heads if config.key_heads is None else config.key_heads")
    head_dim: int = derived("config.dim // heads")
    """The size of each head."""
    scale: float = derived("head_dim ** -0.5")
    query: nn.Linear = submodule(nn.Linear, "config.dim", "heads*head_dim", bias="config.bias")
    key: nn.Linear = submodule(nn.Linear, "config.dim", "key_heads*head_dim", bias="config.bias")
    value: nn.Linear = submodule(nn.Linear, "config.dim", "key_heads*head_dim", bias="config.bias")
    out: nn.Linear = submodule(nn.Linear, "heads*head_dim", "config.dim", bias="config.bias")
    gate: nn.Parameter | None = param("heads", when="key_heads < heads", initializer=nn.init.zeros_)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (
            layer(x).unflatten(-1, (-1, self.head_dim)) for layer in (self.query, self.key, self.value)
        )
        repeated = self.heads // self.key_heads
        key, value = key.repeat_interleave(repeated, -2), value.repeat_interleave(repeated, -2)
        weights = torch.einsum("...qhd,...khd->...hqk", query, key).mul(self.scale).softmax(-1)
        mixed = torch.einsum("...hqk,...khd->...qhd", weights, value)
        result: Tensor = self.out((mixed if self.gate is None else mixed * self.gate.exp()[:, None]).flatten(-2))
        return result


class FeedForward(Module):
    """A gated network whose hidden size is rounded up."""

    config: DecoderConfig
    index: int
    wanted: int = derived("config.hidden or int(2 * 4 * config.dim / 3)")
    hidden: int = derived("config.multiple_of * ((wanted + config.multiple_of - 1) // config.multiple_of)")
    up: nn.Linear = submodule(nn.Linear, "config.dim", "2*hidden", bias=False)
    down: nn.Linear = submodule(nn.Linear, "hidden", "config.dim", bias=False)
    scale: nn.Parameter = param("config.dim", initializer="by_depth")

    def by_depth(self, tensor: Tensor) -> None:
        nn.init.constant_(tensor, (2 * (self.index + 1)) ** -0.5)

    def forward(self, x: Tensor) -> Tensor:
        up, gate = self.up(x).chunk(2, -1)
        result: Tensor = self.down(nn.functional.silu(gate) * up) * self.scale
        return result


class Block(Module):
    """Attention and a feed-forward network."""

    config: DecoderConfig
    layer: int
    attention_norm: Norm = submodule(Norm, "config.dim", eps="config.eps")
    attention: Attention = submodule(Attention, "config")
    norm: Norm = submodule(Norm, "config.dim", eps="config.eps")
    network: FeedForward = submodule(FeedForward, "config", "layer")

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.network(self.norm(x))


class Decoder(Module):
    """Blocks between an embedding and a head, with an adapter after every second block."""

    config: DecoderConfig
    depth: int = derived("config.depth")
    narrowest: int = derived("min(config.widths)")
    embed: nn.Embedding = submodule(nn.Embedding, "config.vocab", "config.dim")
    blocks: ModuleList[Block] = submodule(Block, "config", "index", repeat="depth")
    adapters: ModuleList[Norm] = submodule(Norm, "config.dim", repeat="depth", when="index % 2 == 1")
    narrowing: ModuleList[nn.Linear] = submodule(
        nn.Linear, "config.widths[index]", "config.widths[index + 1]", repeat="len(config.widths) - 1"
    )
    positions: Tensor = buffer("depth", "narrowest", initializer=partial(nn.init.constant_, val=0.5))
    head: nn.Linear | None = submodule(nn.Linear, "config.dim", "config.vocab", bias=False, when="not config.tied")

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index % 2 == 1:
                x = self.adapters[index // 2](x)
        result: Tensor = x @ self.embed.weight.T if self.head is None else self.head(x)
        return result
