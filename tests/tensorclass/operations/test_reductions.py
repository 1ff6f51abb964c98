"""Reductions, which are functions of torch: over batch dimensions, or over everything."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from qten_gen import TensorClass, lifted

from .declared import Inner, example, integers

fn: Any = torch  # objects in place of tensors


def test_all_and_any_are_a_bool_unless_they_are_asked_for_more() -> None:
    value = integers()
    assert (value == value).all() is True
    assert (value != value).any() is False
    assert (value > 0).all(0).batch_size == (3,)


def test_the_dimensions_that_are_left_keep_their_names() -> None:
    value = example()
    value.names = ["time", "row"]
    got = lifted(torch.sum)(value, 0)
    assert (got.batch_size, got.names) == ((3,), ("row",))
    assert fn.cumsum(value, 1).names == ("time", "row")
    assert (value > 0).all("time").names == ("row",)


@pytest.mark.parametrize(
    ("dim", "error", "message"),
    [
        (2, IndexError, "dimension 2 is out of range: Batch has 2 batch dimensions"),
        ((0, -2), ValueError, r"Batch\.sum: expected different batch dimensions, got \[0, -2\]"),
        ((), ValueError, r"Batch\.sum: expected different batch dimensions, got \[\]"),
    ],
)
def test_dimensions_that_are_not_there_are_refused(dim: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lifted(torch.sum)(example(), dim)


def test_an_object_without_tensors_has_a_batch_size_that_is_reduced() -> None:
    class Note(TensorClass):
        text: str

    assert lifted(torch.sum)(Note("a", batch_size=[2, 3]), 0).batch_size == (3,)


def test_min_along_a_dimension_keeps_the_classes() -> None:
    got = lifted(torch.min)(example(), 0)
    assert [type(found.inner) for found in got] == [Inner, Inner]
    assert got.indices.x.dtype is torch.int64
