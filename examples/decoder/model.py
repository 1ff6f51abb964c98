"""A byte-level decoder like GPT-2, with rotary positions."""

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


class Attention(Module):
    """Causal multi-head self-attention."""

    width: int
    heads: int
    qkv: nn.Linear = submodule(nn.Linear, "width", "3*width")
    out: nn.Linear = submodule(nn.Linear, "width", "width")

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        """Attention of each position of `x`, of shape `(batch, length, width)`, to the positions up to it."""
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(
            rotate(query, rotary), rotate(key, rotary), value, is_causal=True
        )
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

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        """Apply the block to `x`, of shape `(batch, length, width)`; the result has the same shape."""
        x = x + self.attention(self.attention_norm(x), rotary)
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

    @overload
    def forward(self, tokens: Tensor) -> Tensor: ...
    @overload
    def forward(self, tokens: Passages) -> Tensor: ...
    def forward(self, tokens: Any) -> Tensor:
        """Logits of shape `(batch, length, vocabulary)` for tokens of shape `(batch, length)`."""
        x = functional.embedding(tokens, self.embedding)
        for block in self.blocks:
            x = block(x, self.rotary)
        return functional.linear(self.norm(x), self.head)


@Decoder.register(Passages)
def _(decoder: Decoder, passages: Passages) -> Tensor:
    """The mean cross entropy of the predictions."""
    return functional.cross_entropy(decoder(passages.tokens).flatten(0, 1), passages.targets.flatten())


def rotate(x: Tensor, rotary: Tensor) -> Tensor:
    """Rotate each pair of features of `x`, of shape `(batch, heads, length, 2 * pairs)`, by the angle of its position."""
    cos, sin = rotary[:, : x.shape[-2]]
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)
