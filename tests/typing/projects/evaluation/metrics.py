"""Results, counts, and a protocol of metrics over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from qten_gen import TensorClass


class Result(TensorClass):
    predictions: Tensor
    targets: Tensor

    @property
    def correct(self) -> Tensor:
        return self.predictions == self.targets


class Counts(TensorClass):
    hits: Tensor
    total: Tensor

    def __post_init__(self) -> None:
        assert self.hits.shape == self.total.shape

    @property
    def accuracy(self) -> Tensor:
        return self.hits / self.total

    def merged(self, other: Self) -> Self:
        return self + other

    @classmethod
    def of(cls, result: Result) -> Counts:
        hits = (result.predictions == result.targets).sum()
        return cls(hits, torch.tensor(result.targets.numel()))


@runtime_checkable
class Metric(Protocol):
    name: str

    def update(self, result: Result) -> None: ...
    def compute(self) -> float: ...


class Accuracy:
    name = "accuracy"

    def __init__(self) -> None:
        self.parts: list[Counts] = []

    def update(self, result: Result) -> None:
        self.parts.append(Counts.of(result))

    def compute(self) -> float:
        return reduce(Counts.merged, self.parts).accuracy.item()


class Spread:
    name = "spread"

    def __init__(self) -> None:
        self.results: list[Result] = []

    def update(self, result: Result) -> None:
        self.results.append(result)

    def compute(self) -> float:
        together = Result.cat(self.results)
        return together.predictions.float().std().item()


def run(metrics: Sequence[Metric], results: Iterable[Result]) -> dict[str, float]:
    for result in results:
        for metric in metrics:
            metric.update(result)
    return {metric.name: metric.compute() for metric in metrics}
