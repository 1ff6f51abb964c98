"""Runs pipelines of stages."""

from __future__ import annotations

from typing import TypeVar, assert_type

import torch

from qten_gen import TensorClass
from stages import model
from stages.model import Colder, Kept, KeptLogits, Logits, Probabilities, Same, Sharpen, Softmax, Stage

In = TypeVar("In", bound=TensorClass)
Out = TypeVar("Out", bound=TensorClass)


def run(stage: Stage[In, Out], given: In) -> Out:
    return stage(given)  # ty: ignore[invalid-argument-type]


def twice(stage: Stage[In, In], given: In) -> In:
    return stage(stage(given))


def certain(stage: Stage[Logits, Probabilities], given: Logits) -> bool:
    return bool((stage(given).entropy() < 1).all())


def declared(stage: model.Stage[model.Logits, model.Probabilities]) -> float:
    return stage.scale


def main() -> None:
    torch.manual_seed(0)
    given = Logits(torch.randn(2, 3), batch_size=2)
    stages: list[Stage[Logits, Logits]] = [Sharpen(2.0), Colder()]
    for stage in stages:
        given = stage(given)
    assert_type(run(Softmax(), given), Probabilities)
    assert_type(twice(Sharpen(), given), Logits)
    print(certain(Softmax(), given), declared(Softmax(0.5)), [stage.scale for stage in stages])
    last: Stage[Logits, Logits] = Colder()
    both: model.Stage[model.Logits, model.Logits] = Colder()
    print(last(given).scores.shape, both.scale, isinstance(last, Sharpen))
    assert_type(Same()(given), Logits)
    kept: Kept[Logits] = KeptLogits(given, torch.ones(2), batch_size=2)
    assert_type(KeptLogits(given, torch.ones(2), batch_size=2).inner, Logits)
    print(kept.inner.scores.shape, [one.weight.item() for one in kept])


main()
