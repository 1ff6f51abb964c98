"""Reductions take the names that NumPy has for their arguments, and `unbiased`, as tensors do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.operations.reduction_table import REDUCTIONS, RUNNING

from ..declared import Flat, flat

REDUCED = [
    operation.name for operation in REDUCTIONS if operation.is_method and operation.name not in ("norm", "quantile")
]
ALONG = [operation.name for operation in RUNNING if operation.is_method]


def same(got: Any, value: Flat, function: Any) -> None:
    """Whether the tensors of `got` are what `function` makes of those of `value`."""
    for name in ("x", "y"):
        expected = function(getattr(value, name))
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for mine, theirs in pairs:
            assert isinstance(theirs, Tensor)
            assert torch.equal(getattr(mine, name), theirs)
            assert mine.batch_size == theirs.shape[: len(mine.batch_size)]


@pytest.mark.parametrize(
    "keywords", [{"axis": 1}, {"axis": -2, "keepdims": True}, {"dim": 0, "keepdims": True}], ids=str
)
@pytest.mark.parametrize("name", REDUCED)
def test_a_reduction_takes_names_of_numpy(name: str, keywords: dict[str, Any]) -> None:
    value = flat(2, 3)
    of_tensors = {"-2": 0}.get(str(keywords.get("axis")), keywords.get("axis", keywords.get("dim")))
    plain = {"dim": of_tensors, "keepdim": keywords.get("keepdims", False)}
    same(getattr(value, name)(**keywords), value, lambda tensor: getattr(tensor, name)(**plain))
    same(getattr(torch, name)(value, **keywords), value, lambda tensor: getattr(tensor, name)(**plain))


@pytest.mark.parametrize("name", ALONG)
def test_an_operation_along_a_dimension_takes_the_name_of_numpy(name: str) -> None:
    value: Any = flat(2, 3)
    same(getattr(value, name)(axis=1), value, lambda tensor: getattr(tensor, name)(1))
    with pytest.raises(TypeError, match=rf"{name}\(\) missing 1 required positional argument: 'dim'"):
        getattr(value, name)()
    with pytest.raises(TypeError, match=rf"Flat.{name}\(\) got both dim= and axis="):
        getattr(value, name)(0, axis=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'keepdims'"):
        getattr(value, name)(0, keepdims=True)


def test_norms_and_quantiles_take_names_of_numpy() -> None:
    value: Any = flat(2, 3)
    same(value.norm(axis=0, keepdims=True), value, lambda tensor: tensor.norm(dim=0, keepdim=True))
    same(value.quantile(0.5, axis=1), value, lambda tensor: tensor.quantile(0.5, dim=1))


@pytest.mark.parametrize("name", ["std", "var"])
def test_the_divisor_of_a_deviation_is_said_in_every_way(name: str) -> None:
    value: Any = flat(3)
    same(getattr(value, name)(0, unbiased=False), value, lambda tensor: getattr(tensor, name)(0, unbiased=False))
    same(getattr(value, name)(axis=0, unbiased=True), value, lambda tensor: getattr(tensor, name)(0))
    same(getattr(value, name)(False), value, lambda tensor: getattr(tensor, name)(False))
    same(getattr(value, name)(unbiased=False), value, lambda tensor: getattr(tensor, name)(unbiased=False))
    with pytest.raises(TypeError, match="expected unbiased or correction, got both"):
        getattr(value, name)(0, unbiased=False, correction=2)


def test_an_argument_cannot_be_given_under_both_names() -> None:
    value: Any = flat(2, 3)
    with pytest.raises(TypeError, match=r"Flat.sum\(\) got both dim= and axis="):
        value.sum(0, axis=1)
    with pytest.raises(TypeError, match=r"Flat.sum\(\) got both keepdim= and keepdims="):
        value.sum(0, keepdim=True, keepdims=True)
    with pytest.raises(TypeError, match=r"Flat.all\(\) got an unexpected keyword argument 'axes'"):
        value.all(axes=0)


def test_a_compiled_reduction_takes_names_of_numpy() -> None:
    def step(value: Any) -> Any:
        return value.sum(axis=0, keepdims=True), value.cumsum(axis=1), value.std(unbiased=False)

    value = flat(2, 3)
    for got, expected in zip(torch.compile(step, fullgraph=True, backend="eager")(value), step(value), strict=True):
        assert torch.equal(got.x, expected.x)
