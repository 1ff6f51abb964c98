"""Operations that end in a bool say the same in compiled and exported code, or torch refuses to branch on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import export
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from qten_gen import LabelledTensor, TensorClass


class Part(TensorClass):
    q: Tensor


class Batch(TensorClass):
    x: Tensor
    y: Tensor
    part: Part


def batch(x: float, y: float = 1.0) -> Batch:
    return Batch(torch.full((3, 2), x), torch.full((3,), y), Part(torch.full((3,), x), batch_size=3), batch_size=3)


OBJECTS = [batch(0.0, 0.0), batch(1.0), batch(0.0), batch(float("nan"))]

Use = Callable[[Any], Any]

QUESTIONS: dict[str, Use] = {
    "all": lambda b: b.all(),
    "any": lambda b: b.any(),
    "torch.all": lambda b: torch.all(b),
    "all of a comparison": lambda b: (b > 0).all(),
    "any of a comparison": lambda b: (b > 0).any(),
    "allclose": lambda b: torch.allclose(b, b * 2),
    "bool of a labelled tensor": lambda b: bool(LabelledTensor(b.x.sum(), ())),
}


class Calls(nn.Module):
    def __init__(self, use: Use) -> None:
        super().__init__()
        self.use = use

    def forward(self, b: Batch) -> Any:
        return self.use(b)


def assert_same(made: Use, use: Use) -> None:
    for value in OBJECTS:
        found, expected = made(value), use(value)
        assert type(found) is type(expected)
        assert torch.equal(torch.as_tensor(found).nan_to_num(), torch.as_tensor(expected).nan_to_num())


@pytest.mark.parametrize("options", [{"fullgraph": True}, {"fullgraph": True, "dynamic": True}, {}], ids=str)
@pytest.mark.parametrize("use", QUESTIONS.values(), ids=QUESTIONS)
def test_a_bool_is_computed_in_the_graph(use: Use, options: dict[str, bool]) -> None:
    torch.compiler.reset()
    assert_same(torch.compile(use, backend="eager", **options), use)  # type: ignore[call-overload] # torch wants literals


@pytest.mark.parametrize("use", QUESTIONS.values(), ids=QUESTIONS)
def test_a_bool_is_exported(use: Use) -> None:
    assert_same(export(Calls(use), (batch(1.0),), strict=True).module(), use)
    with pytest.raises(GuardOnDataDependentSymNode):  # as for the bool of a tensor
        export(Calls(use), (batch(1.0),), strict=False)
