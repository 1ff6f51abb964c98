"""A byte-level decoder like GPT-2, with rotary positions, and a cache of what it has read."""

from collections.abc import Callable
from functools import partial
from typing import Any, overload

import torch
from torch import Tensor, nn
from torch.nn import functional

from qten_gen import Module, ModuleList, TensorClass, param, submodule, virtual


class Passages(TensorClass):
    """Passages of a text as byte values, and for each byte the next one."""

    tokens: Tensor
    targets: Tensor


def causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend from each position to the positions up to it."""
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


class Memory(TensorClass):
    """Keys and values that the attention of a block has computed, of shape `(*batch, heads, room, width // heads)`."""

    key: Tensor
    value: Tensor

    def attend(self, query: Tensor, key: Tensor, value: Tensor, *, position: Tensor) -> Tensor:
        """Write keys and values at positions of shape `(batch, length)`, and attend from each to all up to it."""
        item = torch.arange(key.shape[0], device=position.device)[:, None]
        self.key[item, :, position] = key.transpose(1, 2)
        self.value[item, :, position] = value.transpose(1, 2)
        reached = torch.arange(self.key.shape[-2], device=position.device) <= position[:, None, :, None]
        return functional.scaled_dot_product_attention(query, self.key, self.value, reached)


class Cache(TensorClass):
    """What a decoder remembers of some texts: the memories of batch size `(*batch, depth)`, and how many bytes it has read."""

    memories: Memory
    length: Tensor


class Attention(Module):
    """Causal multi-head self-attention."""

    width: int
    heads: int
    qkv: nn.Linear = submodule(nn.Linear, "width", "3*width")
    out: nn.Linear = submodule(nn.Linear, "width", "width")

    def forward(self, x: Tensor, rotary: Tensor, attend: Callable[..., Tensor] = causal) -> Tensor:
        """Attention of each position of `x`, of shape `(batch, length, width)`, to those that `attend` lets it see."""
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = attend(rotate(query, rotary), rotate(key, rotary), value)
        result: Tensor = self.out(seen.transpose(1, 2).flatten(2))
        return result


class Block(Module):
    """Attention and a multilayer perceptron, each with a residual connection."""

    width: int
    heads: int
    attention_norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    attention: Attention = submodule(Attention, "width", "heads")
    perceptron_norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    up: nn.Linear = submodule(nn.Linear, "width", "4*width")
    down: nn.Linear = submodule(nn.Linear, "4*width", "width")

    def forward(self, x: Tensor, rotary: Tensor, attend: Callable[..., Tensor] = causal) -> Tensor:
        """Apply the block to `x`, of shape `(batch, length, width)`; the result has the same shape."""
        x = x + self.attention(self.attention_norm(x), rotary, attend)
        result: Tensor = x + self.down(functional.gelu(self.up(self.perceptron_norm(x)), approximate="tanh"))
        return result


class Decoder(Module):
    """Predicts the next byte from up to `context` bytes."""

    vocabulary: int = 256
    context: int = 64
    width: int = 96
    heads: int = 4
    depth: int = 3
    embedding: nn.Parameter = param("vocabulary", "width", initializer=partial(nn.init.normal_, std=0.02))
    blocks: ModuleList[Block] = submodule(Block, "width", "heads", repeat="depth")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    head: nn.Parameter = param(tie="embedding")

    @virtual(cached=True)
    def rotary(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Cosine and sine of the rotation angles for each position, of shape `(2, context, width // heads // 2)`."""
        # Computed in single precision: half precision cannot distinguish distant positions.
        pairs = self.width // self.heads // 2
        rates = 10_000 ** -(torch.arange(pairs, device=device) / pairs)
        angles = torch.outer(torch.arange(self.context, device=device), rates)
        return torch.stack([angles.cos(), angles.sin()]).to(dtype)

    def cache(self, texts: int) -> Cache:
        """An empty cache for some texts."""
        size = (texts, self.depth, self.heads, self.context, self.width // self.heads)
        memories = Memory(self.embedding.new_zeros(size), self.embedding.new_zeros(size), batch_size=size[:2])
        return Cache(memories, self.embedding.new_zeros(texts, dtype=torch.long), batch_size=texts)

    @overload
    def forward(self, tokens: Tensor, cache: Cache | None = None) -> Tensor: ...
    @overload
    def forward(self, tokens: Passages) -> Tensor: ...
    def forward(self, tokens: Any, cache: Cache | None = None) -> Tensor:
        """Logits of shape `(batch, length, vocabulary)` for tokens of shape `(batch, length)`, which follow those of a cache."""
        x, length = functional.embedding(tokens, self.embedding), tokens.shape[1]
        if cache is None:
            for block in self.blocks:
                x = block(x, self.rotary[:, :length])
        else:
            position = cache.length[:, None] + torch.arange(length, device=tokens.device)
            rotary = self.rotary[:, position, None].transpose(2, 3)
            for number, block in enumerate(self.blocks):
                x = block(x, rotary, partial(cache.memories[:, number].attend, position=position))
            cache.length += length
        return functional.linear(self.norm(x), self.head)


@Decoder.register(Passages)
def _(decoder: Decoder, passages: Passages) -> Tensor:
    """The mean cross entropy of the predictions."""
    return functional.cross_entropy(decoder(passages.tokens).flatten(0, 1), passages.targets.flatten())


def rotate(x: Tensor, rotary: Tensor) -> Tensor:
    """Rotate pairs of features in `x` of shape `(batch, heads, length, features)` by angles, `(2, ..., length, pairs)`."""
    cos, sin = rotary
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)
