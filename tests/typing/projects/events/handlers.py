"""Handlers for classes that `forward` would take too."""

from __future__ import annotations

from torch import Tensor, nn

from events.model import Click, DoubleClick, Event, Key
from qten_gen import Module, submodule


class Encoder(Module):
    dim: int
    proj: nn.Linear = submodule(nn.Linear, 2, "dim")
    keys_: nn.Embedding = submodule(nn.Embedding, 8, "dim")

    def forward(self, event: Event) -> Tensor:
        raise TypeError(event.describe())


class Deep(Encoder):
    depth: int = 2


@Encoder.register(Click)
def encode_click(encoder: Encoder, click: Click) -> Tensor:
    x, y = click.point
    out: Tensor = encoder.proj(x.new_tensor([]).new_zeros(*x.shape, 2) + x[..., None] + y[..., None])
    return out


@Encoder.register(Key)
def encode_key(encoder: Encoder, key: Key) -> Tensor:
    out: Tensor = encoder.keys_(key.code)
    return out


@Deep.register(DoubleClick)
def encode_double(encoder: Deep, click: DoubleClick) -> tuple[Tensor, int]:
    return encode_click(encoder, click), encoder.depth
