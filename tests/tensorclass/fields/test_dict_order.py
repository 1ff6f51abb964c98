"""Two dicts of tensors with the same keys are alike, whatever order the keys are in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, lifted
from qten_gen.runtime.tensorclass.processes.sharing import schema, tensors_by_path


class Heads(TensorClass):
    logits: dict[str, Tensor]


class Model(TensorClass):
    heads: Heads
    x: Tensor


def models(*, requires_grad: bool = False) -> tuple[Model, Model]:
    """Two objects whose dicts have their keys in different orders."""
    keys = ("a", "b"), ("b", "a")
    made = [
        Model(
            Heads({key: torch.rand(2, 3) for key in order}, batch_size=2).requires_grad_(requires_grad),
            torch.rand(2),
            batch_size=2,
        )
        for order in keys
    ]
    return made[0], made[1]


COMBINED: dict[str, Callable[[Model, Model], Model]] = {
    "add": lambda left, right: left + right,
    "copy_": lambda left, right: left.clone().copy_(right) + left,
    "where": lambda left, right: left.where(torch.ones(2, dtype=torch.bool), right) + right,
    "lerp": lambda left, right: lifted(torch.lerp)(left, right, torch.tensor(0.5)) * 2,
}


@pytest.mark.parametrize("name", COMBINED)
def test_operations_pair_tensors_by_key(name: str) -> None:
    left, right = models()
    found = COMBINED[name](left, right).heads.logits
    for key in ("a", "b"):
        torch.testing.assert_close(found[key], left.heads.logits[key] + right.heads.logits[key])


def test_a_stack_pairs_tensors_by_key() -> None:
    left, right = models()
    for key, tensor in Model.stack([left, right]).heads.logits.items():
        assert tensor.equal(torch.stack([left.heads.logits[key], right.heads.logits[key]]))


def test_torch_takes_gradients_by_key() -> None:
    left, gradient = models(requires_grad=True)
    grad: Any = torch.autograd.grad  # torch's own types know tensors only
    found = grad(left.heads * 1, left.heads, gradient.heads)
    for key in ("a", "b"):
        assert found[0].logits[key].equal(gradient.heads.logits[key])


def test_processes_send_tensors_in_one_order() -> None:
    left, right = models()
    assert [*tensors_by_path(left)] == [*tensors_by_path(right)] == ["heads.logits.a", "heads.logits.b", "x"]
    assert tensors_by_path(right)["heads.logits.a"] is right.heads.logits["a"]
    assert schema("sum", left) == schema("sum", right)
