"""A decoder with a cache of keys and values."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qten_gen import Module, ModuleList, TensorClass, derived, param, submodule, virtual


@dataclass(frozen=True)
class Config:
    vocab: int = 11
    dim: int = 8
    heads: int = 2
    depth: int = 2
    length: int = 16
    tie: bool = True


class Cache(TensorClass):
    """Keys and values of one layer: `(batch, heads, time, dim)`."""

    keys_seen: Tensor
    values_seen: Tensor

    @property
    def time(self) -> int:
        return self.keys_seen.shape[2]

    def extended(self, keys: Tensor, values: Tensor) -> Cache:
        return self.replace(
            keys_seen=torch.cat([self.keys_seen, keys], 2), values_seen=torch.cat([self.values_seen, values], 2)
        )

    @classmethod
    def empty(cls, batch: int, heads: int, dim: int) -> Cache:
        return cls(torch.zeros(batch, heads, 0, dim), torch.zeros(batch, heads, 0, dim), batch_size=[batch])


class Text(TensorClass):
    tokens: Tensor
    mask: Tensor | None = None

    def shifted(self) -> tuple[Text, Tensor]:
        return self.replace(tokens=self.tokens[:, :-1]), self.tokens[:, 1:]


class State(TensorClass):
    logits: Tensor
    loss: Tensor | None = None


class Attention(Module):
    config: Config
    head_dim: int = derived("config.dim // config.heads")
    qkv: nn.Linear = submodule(nn.Linear, "config.dim", "3*config.dim", bias=False, group="decay")
    out: nn.Linear = submodule(nn.Linear, "config.dim", "config.dim", bias=False, group="decay")

    @virtual(cached=True)
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        size = self.config.length
        return torch.ones(size, size, dtype=torch.bool, device=device).tril()

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache | None]:
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (self.config.heads, self.head_dim)).transpose(1, 2) for t in (q, k, v))
        past = 0
        if cache is not None:
            past = cache.time
            cache = cache.extended(k, v)
            k, v = cache.keys_seen, cache.values_seen
        mask = self.causal[past : past + x.shape[1], : k.shape[2]]
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(mixed.transpose(1, 2).flatten(2)), cache


class Block(Module):
    config: Config
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "config.dim")
    attention: Attention = submodule(Attention, "config")
    scale: nn.Parameter = param("config.dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache | None]:
        mixed, cache = self.attention(self.norm(x), cache)
        return x + self.scale * mixed, cache


class Decoder(Module):
    config: Config
    embed: nn.Embedding = submodule(nn.Embedding, "config.vocab", "config.dim")
    blocks: ModuleList[Block] = submodule(Block, "config", repeat="config.depth")
    head: nn.Parameter | None = param("config.vocab", "config.dim", when="not config.tie", initializer=nn.init.ones_)

    def forward(self, tokens: Tensor, caches: list[Cache] | None = None) -> Tensor:
        x: Tensor = self.embed(tokens)
        for index, block in enumerate(self.blocks):
            x, cache = block(x, None if caches is None else caches[index])
            if caches is not None and cache is not None:
                caches[index] = cache
        return F.linear(x, self.embed.weight if self.head is None else self.head)

    def caches(self, batch: int) -> list[Cache]:
        return [Cache.empty(batch, self.config.heads, block.attention.head_dim) for block in self.blocks]

    @torch.no_grad()
    def generate(self, text: Text, steps: int, temperature: float = 1.0) -> Text:
        caches = self.caches(text.batch_size[0])
        tokens, fresh = text.tokens, text.tokens
        for _ in range(steps):
            logits = self(fresh, caches)[:, -1] / temperature
            fresh = torch.multinomial(logits.softmax(-1), 1)
            tokens = torch.cat([tokens, fresh], 1)
        return text.replace(tokens=tokens)


@Decoder.register(Text)
def _(decoder: Decoder, text: Text) -> State:
    short, wanted = text.shifted()
    logits = decoder(short.tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view_as(wanted).mean(-1)
    return State(logits, loss, batch_size=text.batch_size)
