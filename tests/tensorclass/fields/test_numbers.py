"""Fields annotated with a number: the annotation decides the dtype."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

from qten_gen import TensorClass


class Step(TensorClass):
    reward: float
    done: bool = 0  # type: ignore[assignment] # 0 and 1 are booleans
    count: int = 0
    phase: complex = 0
    either: int | float = 0
    maybe: float | None = None


DTYPES = {
    "reward": torch.float32,
    "done": torch.bool,
    "count": torch.int64,
    "phase": torch.complex64,
    "either": torch.float32,
    "maybe": torch.float32,
}
WIDTHS = {"done": 0, "count": 1, "reward": 2, "either": 2, "maybe": 2, "phase": 3}
"""How wide a number a field takes: a bool, an int, a float or a complex one."""
VALUES: list[tuple[int, Any]] = [
    (0, True),
    (0, 0),
    (0, numpy.bool_(True)),
    (0, numpy.int64(1)),
    (0, numpy.array(1)),
    (1, 7),
    (1, numpy.int64(7)),
    (1, numpy.uint8(7)),
    (2, 0.5),
    (2, numpy.float32(0.5)),
    (2, numpy.float64(0.5)),
    (2, numpy.array(0.5)),
    (3, 1j),
    (3, numpy.complex64(1j)),
]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("width", "value"), VALUES)
def test_the_annotation_decides_the_dtype(name: str, width: int, value: Any) -> None:
    if width > WIDTHS[name]:
        with pytest.raises(
            TypeError, match=rf"^Step\.{name}: expected an? \w+, got .*; pass a Tensor, or change the annot"
        ):
            Step(**{"reward": 0.0, name: value}, batch_size=2)
        return
    built = Step(**{"reward": 0.0, name: value}, batch_size=2)
    assigned = Step(0.0, batch_size=2)
    setattr(assigned, name, value)
    for step in (built, assigned):
        found = getattr(step, name)
        assert found.dtype == DTYPES[name]
        assert found.shape == (2,)
        assert (found == torch.full((2,), complex(value))).all()


def test_later_writes_are_not_truncated() -> None:
    step: Any = Step(0, batch_size=2)
    step.reward[0] = 0.5
    assert step.reward.tolist() == [0.5, 0.0]


def test_a_tensor_keeps_its_dtype() -> None:
    given: Any = torch.zeros(2, dtype=torch.int32)
    step: Any = Step(given, batch_size=2)
    assert step.reward.dtype == torch.int32


@pytest.mark.parametrize("value", ["a", [1.0], numpy.ones(2), numpy.datetime64("2020-01-01"), None])
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^Step\.reward: expected a Tensor, got"):
        Step(value, batch_size=2)


@pytest.mark.parametrize("value", [2**63, 2**70, -(2**63) - 1, numpy.uint64(2**63)])
def test_torch_refuses_a_number_that_is_too_large(value: Any) -> None:
    with pytest.raises((RuntimeError, OverflowError)):
        Step(0, count=value)
