"""A batch, its output, and a model with a configuration object."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, TensorClass, check, derived, param, submodule


class Split(Enum):
    TRAIN = "train"
    TEST = "test"


@dataclass(frozen=True)
class Config:
    vocab: int = 16
    dim: int = 8
    depth: int = 2
    heads: int = 2
    dropout: float = 0.0
    activation: Literal["relu", "gelu"] = "relu"


class Batch(TensorClass):
    """Token ids and their labels."""

    tokens: Tensor
    labels: Tensor
    mask: Tensor | None = None
    part: Split = Split.TRAIN
    mode: Literal["lm", "cls"] = "cls"

    @classmethod
    def random(cls, n: int, length: int, vocab: int) -> Batch:
        return cls(torch.randint(vocab, (n, length)), torch.randint(2, (n,)), batch_size=[n])

    @property
    def lengths(self) -> Tensor:
        if self.mask is None:
            return torch.full(self.batch_size, self.tokens.shape[-1])
        return self.mask.sum(-1)

    def truncated(self, length: int) -> Batch:
        return self.replace(tokens=self.tokens[:, :length])

    def halves(self) -> tuple[Batch, Batch]:
        n = len(self) // 2
        return self[:n], self[n:]


class Output(TensorClass):
    logits: Tensor
    loss: Tensor | None = None

    def accuracy(self, labels: Tensor) -> float:
        return (self.logits.argmax(-1) == labels).float().mean().item()


class Block(Module):
    config: Config
    check("config.dim % config.heads == 0")
    head_dim: int = derived("config.dim // config.heads")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "config.dim", group="no_decay")
    up: nn.Linear = submodule(nn.Linear, "config.dim", "4 * config.dim", group="default")
    down: nn.Linear = submodule(nn.Linear, "4 * config.dim", "config.dim", group="default")
    gate: nn.Parameter = param("config.dim", initializer=nn.init.ones_, group="no_decay")

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.up(self.norm(x)).relu()
        out: Tensor = self.down(hidden)
        return x + self.gate * out


class Classifier(Module):
    config: Config
    embed: nn.Embedding = submodule(nn.Embedding, "config.vocab", "config.dim")
    blocks: ModuleList[Block] = submodule(Block, "config", repeat="config.depth")
    head: nn.Linear = submodule(nn.Linear, "config.dim", 2)

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(x.mean(1))
        return logits


@Classifier.register(Batch)
def classify(model: Classifier, batch: Batch, *, with_loss: bool = True) -> Output:
    logits = model(batch.tokens)
    loss = nn.functional.cross_entropy(logits, batch.labels, reduction="none")
    return Output(logits, loss if with_loss else None, batch_size=batch.batch_size)
