"""Flowers, and a network that tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import torch
from torch import Tensor, nn

from qten_gen import Module, PerItem, TensorClass, field, param, submodule


class Flowers(TensorClass):
    """Measured flowers."""

    petals: Tensor
    kind: Tensor
    labels: PerItem[str] | None = None
    tags: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return self.batch_size[0]

    @staticmethod
    def sample(n: int) -> Flowers:
        return Flowers(torch.rand(n, 4), torch.randint(3, (n,)), batch_size=[n])

    @property
    def normal(self) -> Flowers:
        return self.replace(petals=(self.petals - self.petals.mean(0)) / self.petals.std(0))

    def shuffled(self) -> Flowers:
        return self[torch.randperm(len(self))]


class Guess(TensorClass):
    logits: Tensor

    @property
    def best(self) -> Tensor:
        return self.logits.argmax(-1)


@dataclass
class Scores:
    accuracy: float
    guess: Guess


class Net(Module):
    hidden: int = 8
    dropout: float = 0.0
    up: nn.Linear = submodule(nn.Linear, 4, "hidden")
    drop: nn.Dropout = submodule(nn.Dropout, "dropout")
    down: nn.Linear = submodule(nn.Linear, "hidden", 3)
    scale: nn.Parameter = param(3, initializer=nn.init.ones_)

    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: Flowers) -> Guess: ...
    def forward(self, x: Any) -> Any:
        hidden: Tensor = self.drop(self.up(x)).relu()
        logits: Tensor = self.down(hidden)
        return logits * self.scale


@Net.register(Flowers)
def _(net: Net, flowers: Flowers) -> Guess:
    return Guess(net(flowers.petals), batch_size=flowers.batch_size)


def score(net: Net, flowers: Flowers) -> Scores:
    guess = Guess(net(flowers.petals), batch_size=flowers.batch_size)
    return Scores((guess.best == flowers.kind).float().mean().item(), guess)
