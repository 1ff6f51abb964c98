"""Functions of torch that reduce take the names that NumPy has for their arguments; `std` and `var` take `unbiased`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.operations.reductions import REDUCTIONS

from ..declared import Flat, flat

REDUCED = [
    operation.name for operation in REDUCTIONS if operation.is_method and operation.name not in ("norm", "quantile")
]


def same(got: Any, value: Flat, function: Any) -> None:
    """Whether the tensors of `got` are what `function` makes of those of `value`."""
    for name in ("x", "y"):
        expected = function(getattr(value, name))
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for mine, theirs in pairs:
            assert isinstance(theirs, Tensor)
            assert torch.equal(getattr(mine, name), theirs)
            assert mine.batch_size == theirs.shape[: len(mine.batch_size)]


@pytest.mark.parametrize("name", REDUCED)
def test_a_reduction_as_a_function_takes_names_of_numpy(name: str) -> None:
    value = flat(2, 3)
    got = getattr(torch, name)(value, axis=1, keepdims=True)
    same(got, value, lambda tensor: getattr(tensor, name)(dim=1, keepdim=True))


@pytest.mark.parametrize("name", ["std", "var"])
def test_the_divisor_of_a_deviation_is_said_in_every_way(name: str) -> None:
    value: Any = flat(3)
    same(getattr(value, name)(0, unbiased=False), value, lambda tensor: getattr(tensor, name)(0, unbiased=False))
    same(getattr(value, name)(dim=0, unbiased=True), value, lambda tensor: getattr(tensor, name)(0))
    same(getattr(value, name)(unbiased=False), value, lambda tensor: getattr(tensor, name)(unbiased=False))
