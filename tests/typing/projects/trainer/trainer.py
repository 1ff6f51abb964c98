"""A trainer with callbacks that are typed by a protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import torch

from trainer.model_qten import Batch, Classifier, Output


class Callback(Protocol):
    def __call__(self, step: int, batch: Batch, output: Output) -> None: ...


@dataclass
class Recorder:
    losses: list[float] = field(default_factory=list[float])

    def __call__(self, step: int, batch: Batch, output: Output) -> None:
        if output.loss is not None:
            self.losses.append(output.loss.mean().item())


@dataclass
class Trainer:
    model: Classifier
    optimizer: torch.optim.Optimizer
    callbacks: list[Callback] = field(default_factory=list[Callback])
    steps: int = 0

    def step(self, batch: Batch) -> Output:
        self.optimizer.zero_grad()
        output = self.model(batch)
        assert output.loss is not None
        torch.autograd.backward(output.loss.mean())
        self.optimizer.step()
        self.steps += 1
        detached = output.detach()
        for callback in self.callbacks:
            callback(self.steps, batch, detached)
        return detached

    def fit(self, batches: Iterable[Batch]) -> Output:
        outputs = [self.step(batch) for batch in batches]
        return Output.cat(outputs)


def stream(make: Callable[[], Batch], n: int) -> Iterator[Batch]:
    for _ in range(n):
        yield make()
