"""Indexing and assignment along the batch dimensions. `operations/model/index_steps.py` tries random indexes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from qten_gen import TensorClass

from ..declared import assert_applied, batch, flat, point


def test_an_array_selects_like_a_tensor() -> None:
    value, rows, mask = batch(4), np.array([2, 0]), np.array([True, False, True, False])
    untyped: Any = value
    assert_applied(untyped[rows], value, lambda tensor: tensor[[2, 0]], (2,))
    assert_applied(untyped[mask], value, lambda tensor: tensor[[0, 2]], (2,))
    assert_applied(untyped[rows[0]], value, lambda tensor: tensor[2], ())


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64])
def test_an_array_of_any_integers_holds_positions(dtype: type[np.integer[Any]]) -> None:
    value, rows = batch(4), np.array([2, 0, 2], dtype=dtype)
    untyped: Any = value
    plain: Any = rows
    assert_applied(untyped[rows], value, lambda tensor: tensor[plain], (3,))
    untyped[rows] = value[[1, 1, 1]]
    assert torch.equal(value.tokens[0], value.tokens[1]) and torch.equal(value.tokens[2], value.tokens[1])


def test_a_mask_of_bytes_is_refused() -> None:
    with pytest.raises(TypeError, match="is indexed with long, int or bool tensors, got"):
        batch(2)[torch.tensor([1, 0], dtype=torch.uint8)]


def test_a_bool_makes_a_dimension_without_name() -> None:
    value = flat(2, 3)
    value.names = ["time", "row"]
    assert value[True].names == (None, "time", "row")
    assert value[:, False].names == ("time", None, "row")
    assert value[0, True].names == (None, "row")


def test_an_index_shares_memory_where_torch_does() -> None:
    value = flat(4)
    value[1].x.fill_(7)
    assert value.x[1].tolist() == [7, 7, 7]


def test_the_result_has_the_device_and_the_static_values() -> None:
    value = batch(4).to("meta")
    assert value[0].device == torch.device("meta")
    assert value[0].source == "test"
    assert value[0].tags is value.tags


@pytest.mark.parametrize("index", [(0, 0), (slice(None), 1), (None, 0, 0), torch.ones(4, 2, dtype=torch.bool)], ids=str)
def test_an_index_beyond_the_batch_dimensions_is_refused(index: Any) -> None:
    with pytest.raises(
        IndexError, match=r"Batch has 1 batch dimension, .* a field's own dimensions are indexed on the field"
    ):
        batch(4)[index]


@pytest.mark.parametrize("index", [4, -5, (4,), (..., -5)], ids=str)
def test_an_index_out_of_range_is_refused(index: Any) -> None:
    with pytest.raises(IndexError, match="out of range for a batch dimension of size 4"):
        batch(4)[index]


@pytest.mark.parametrize("step", [0, -1])
def test_a_slice_goes_forward(step: int) -> None:
    with pytest.raises(ValueError, match=f"the step of a slice has to be positive, got {step}"):
        batch(4)[::step]


def test_a_mask_of_another_shape_is_refused() -> None:
    with pytest.raises(IndexError, match=r"a mask of shape \[3\] does not fit the batch size \[4\] of Batch"):
        batch(4)[torch.ones(3, dtype=torch.bool)]


def test_a_name_is_not_an_index() -> None:
    wrong: Any = "tokens"
    with pytest.raises(TypeError, match=r"read a field as an attribute or with \.get\('tokens'\)"):
        batch(4)[wrong]


@pytest.mark.parametrize(
    "index",
    [1.5, {1}, torch.ones(2), torch.ones(4, dtype=torch.int8), ["a"], [1.5], object],
    ids=str,
)
def test_another_type_of_index_is_refused(index: Any) -> None:
    with pytest.raises(TypeError, match="Batch is indexed with"):
        batch(4)[index]


def test_len_and_iteration_follow_the_first_batch_dimension() -> None:
    value = batch(3, 2)
    assert len(value) == 3
    for position, item in enumerate(value):
        assert_applied(item, value, lambda tensor, at=position: tensor[at], (2,))  # type: ignore[misc]


def test_without_batch_dimensions_there_is_no_len_and_no_iteration() -> None:
    with pytest.raises(TypeError, match=r"a Batch without batch dimensions has no len\(\)"):
        len(batch())
    with pytest.raises(TypeError, match="a Batch without batch dimensions cannot be iterated over"):
        iter(batch())
    with pytest.raises(
        IndexError, match=r"Batch has 0 batch dimensions, .*; give the constructor a batch_size=\[\.\.\.\]"
    ):
        batch()[0]


def test_an_object_makes_no_tensor() -> None:
    for value in (batch(), batch(3)):
        with pytest.raises(TypeError, match=r"^a Batch without batch dimensions.*; a tensor is made of its fields$"):
            torch.tensor(value)


class Pair(TensorClass):
    shared: Tensor
    other: Tensor


@pytest.mark.parametrize("reason", ["the value is the target", "a field repeats", "a field is a leaf"])
def test_an_assignment_that_torch_refuses_names_the_field_and_no_innocent_one(reason: str) -> None:
    value = Pair(torch.zeros(2), torch.zeros(2), batch_size=[2])
    shared, items = torch.zeros(4), [0, 2]
    target = Pair(shared, torch.zeros(4, dtype=torch.long), batch_size=[4])
    if reason == "the value is the target":
        value = Pair(shared[2:], torch.zeros(2), batch_size=[2])
    elif reason == "a field repeats":
        target.shared, items = torch.zeros(1).expand(4), slice(0, 2)  # type: ignore[assignment] # either is an index
    else:
        target.shared = nn.Parameter(shared)
    with pytest.raises(RuntimeError, match=r"^Pair\[.*\]: Pair\.shared: .*(memory location|leaf)"):
        target[items] = value


def test_assignment_asks_for_the_batch_size_of_the_items() -> None:
    value = batch(4)
    with pytest.raises(ValueError, match=r"Batch\[:2\] has batch size \[2\], the value has \[\]"):
        value[:2] = value[0]


def test_assignment_names_the_field_whose_shapes_do_not_fit() -> None:
    value = flat(4)
    with pytest.raises(RuntimeError, match=r"^Flat\[:2\]: Flat\.x: .*\[2, 3\].*\[2, 5\]"):
        value[:2] = flat(2).replace(x=torch.rand(2, 5))


def test_assignment_asks_for_the_same_class() -> None:
    value: Any = batch(4)
    for wrong in (point(4), "text", None):
        with pytest.raises(TypeError, match=r"Batch\[:\]: expected Batch, a Tensor or a number, got"):
            value[:] = wrong


def test_an_object_of_another_dtype_is_refused_by_field_where_torch_refuses_it() -> None:
    value = flat(3)
    value[:1] = flat(1).double()
    with pytest.raises(
        RuntimeError, match=r"^Flat\[Tensor\[1\]\]: Flat\.x: .*dtypes match, got Float for the destination"
    ):
        value[torch.tensor([0])] = flat(1).double()


def test_an_object_is_not_an_index() -> None:
    value: Any = flat(3)
    with pytest.raises(TypeError, match=r"or a tuple of those, got a Flat$"):
        value[value > 0]


@pytest.mark.parametrize("index", [[2, 0], range(1, 3), [True, False, True], np.array([2, 0]), ([2, 0], [1, 1])])
def test_an_index_is_not_made_on_the_default_device(index: Any) -> None:
    value = flat(3, 2)
    with torch.device("meta"):
        got = value[index]
        written = value.clone()
        written[index] = 0.0
        fetched = value.__getitems__([2, 0])
    wanted = value[index]
    assert got.batch_size == wanted.batch_size
    assert torch.equal(got.x, wanted.x)
    assert torch.equal(written[index].y, torch.zeros_like(wanted.y))
    assert torch.equal(fetched.x, value.x[[2, 0]])


def test_a_tensor_is_assigned_over_the_batch_dimensions() -> None:
    value = flat(2, 3)
    value[0] = torch.tensor([1.0, 2.0, 3.0])
    assert value.x[0].tolist() == [[1, 1, 1], [2, 2, 2], [3, 3, 3]]
    assert value.y[0].tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"a Tensor broadcasts over the batch size \[3\] only, got shape \[2\]"):
        value[0] = torch.zeros(2)
