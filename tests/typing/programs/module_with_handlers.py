"""Calls of a module with handlers, and modules where a function is asked for."""

from typing import Protocol, assert_type

import torch
from kinds.modules import Splitting
from shop.model import Attention, Batch, Point
from torch import Tensor, nn

x = torch.ones(2)
attention = Attention(4, heads=2, device="cpu", dtype=torch.float64)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(attention(x), Tensor)
assert_type(attention(x=x), Tensor)
assert_type(attention(batch), Tensor)
assert_type(attention.qkv, nn.Parameter)
assert_type(attention.causal, Tensor)
nn.Sequential(attention)
torch.optim.SGD(attention.parameters(), lr=0.1)
torch.compile(attention)

attention(1)  # E
attention()  # E
attention(y=x)  # E
print(attention.typo)  # E
attention.new = 1  # E
attention.causal = x  # E
Attention()  # E
Attention(4, qkv=x)  # E

pieces: list[Tensor] = Splitting(2)(torch.ones(4))
"""A call takes nothing from the type that is expected of its result."""
assert_type(torch.stack(Splitting(2)(torch.ones(4))), Tensor)
assert_type(list(zip(Splitting(2)(torch.ones(4)), [1, 2], strict=True)), list[tuple[Tensor, int]])
wrong: list[int] = Splitting(2)(torch.ones(4))  # E


class Cuts(Protocol):
    """What a function asks of a module that it is given."""

    def __call__(self, x: Tensor, /) -> list[Tensor]: ...


class Sums(Protocol):
    """What no module here gives."""

    def __call__(self, x: Tensor, /) -> int: ...


summed: Sums = attention  # E
cuts: Cuts = Splitting(2)
