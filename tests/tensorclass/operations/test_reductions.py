"""What reductions reduce: batch dimensions, those beyond, everything; every tensor, or all to one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass

from .declared import example, integers


def test_all_and_any_are_a_bool_unless_they_are_asked_for_more() -> None:
    value = integers()
    assert (value == value).all() is True
    assert (value != value).any() is False
    assert torch.equal((value == value).all(reduce=True), torch.tensor(True))
    assert (value > 0).all(0).batch_size == (3,)


def test_a_dimension_may_be_given_by_its_name() -> None:
    value = example()
    value.names = ["time", "row"]
    got = value.sum("time")
    assert (got.batch_size, got.names) == ((3,), ("row",))
    assert value.sum(("row", 0)).batch_size == ()
    assert value.cumsum("row").names == ("time", "row")


@pytest.mark.parametrize(
    ("dim", "error", "message"),
    [
        (2, IndexError, "dimension 2 is out of range: Batch has 2 batch dimensions"),
        ((0, -2), ValueError, r"Batch\.sum: expected different batch dimensions, got \[0, -2\]"),
        ((), ValueError, r"Batch\.sum: expected different batch dimensions, got \[\]"),
        ("color", ValueError, "no dimension of Batch is called 'color'"),
    ],
)
def test_dimensions_that_are_not_there_are_refused(dim: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        example().sum(dim)


def test_several_dimensions_of_min_are_refused() -> None:
    dims: Any = (0, 1)
    with pytest.raises(TypeError, match=r"Batch\.min: expected one batch dimension, got \(0, 1\); for others use amin"):
        example().min(dims)


def test_the_field_that_torch_refuses_is_named() -> None:
    class Mixed(TensorClass):
        x: Tensor
        count: Tensor

    mixed = Mixed(torch.ones(2), torch.tensor([1, 2]), batch_size=2)
    with pytest.raises(RuntimeError, match=r"mean: Mixed\.count: mean\(\): could not infer output dtype"):
        mixed.mean(0)
    assert mixed.mean(0, dtype=torch.float64).count == 1.5


def test_an_object_without_tensors_is_reduced_to_none() -> None:
    class Note(TensorClass):
        text: str

    note = Note("a", batch_size=[2, 3])
    assert note.sum(0).batch_size == (3,)
    with pytest.raises(ValueError, match=r"Note\.sum: there are no tensors to reduce to one"):
        note.sum(reduce=True)


@pytest.mark.parametrize("keepdim", [False, True])
def test_reduce_gives_one_tensor_of_what_is_left_of_the_batch(keepdim: bool) -> None:
    value = example()
    rows = torch.cat([value.x, value.y[..., None], value.inner.q.flatten(2)], -1)
    torch.testing.assert_close(value.std("feature", reduce=True, keepdim=keepdim), rows.std(-1))
    over_first = rows.transpose(0, 1).flatten(1).std(-1)
    wanted = over_first[None] if keepdim else over_first
    torch.testing.assert_close(value.std(0, reduce=True, keepdim=keepdim), wanted)
    torch.testing.assert_close(value.max(reduce=True), rows.max())
