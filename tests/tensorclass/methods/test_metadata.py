"""What an object says about itself, and what it finds out from its tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched, lifted

from ..declared import Batch, Flat, Point, batch, flat


class Looked(TensorClass):
    """With a tensor that the batch does not carry."""

    x: Tensor
    table: Unbatched[Tensor]


def test_the_shape_is_the_batch_size() -> None:
    value = batch(4, 5)
    assert value.shape == torch.Size([4, 5])
    assert (value.ndim, value.dim(), value.batch_dims, value.numel()) == (2, 2, 2, 20)
    assert (batch().ndim, batch().numel(), batch(0, 3).numel()) == (0, 1, 0)


def test_the_batch_size_is_found_from_the_shapes() -> None:
    value = Flat(torch.zeros(4, 5, 3), torch.zeros(4, 5, 2))
    assert value.auto_batch_size_() is value
    assert value.batch_size == (4, 5)
    assert value.auto_batch_size_(1).batch_size == (4,)
    assert value.auto_batch_size_(0).batch_size == ()


def test_nested_objects_find_the_longest_of_their_own() -> None:
    value = Batch(torch.zeros(4, 3), Point(torch.zeros(4, 3, 2), torch.zeros(4, 3)))
    value.auto_batch_size_()
    assert value.batch_size == (4, 3)
    assert value.point.batch_size == (4, 3)
    value = Batch(torch.zeros(4), Point(torch.zeros(4, 3, 2), torch.zeros(4, 3))).auto_batch_size_()
    assert value.batch_size == (4,)
    assert value.point.batch_size == (4, 3)


def test_tensors_that_the_batch_does_not_carry_do_not_count() -> None:
    assert Looked(torch.zeros(4), torch.zeros(7)).auto_batch_size_().batch_size == (4,)


def test_names_of_the_dimensions_that_stay_are_kept() -> None:
    value = flat(4, 5)
    value.names = ["time", "row"]
    assert value.auto_batch_size_(1).names == ("time",)


def test_the_device_is_cleared_in_nested_objects_too() -> None:
    value = batch(4).to("cpu")
    assert value.point.device == torch.device("cpu")
    assert value.clear_device_().device is None
    assert value.point.device is None


class Seen(TensorClass, shadow=True):
    """Fields with names of methods."""

    to: Tensor  # type: ignore[assignment] # what `shadow` is for
    is_locked: Tensor | None = None  # type: ignore[assignment] # the same


class Frame(TensorClass):
    seen: Seen


def test_objects_may_have_fields_called_like_methods() -> None:
    frame = Frame(Seen(torch.rand(3, 2)), batch_size=())
    assert frame.auto_batch_size_().seen.batch_size == (3, 2)
    assert frame.clear_device_().seen.device is None


class Free(TensorClass):
    """Fields with names that data often has."""

    values: Tensor
    size: Tensor
    mean: Tensor
    std: Tensor
    min: Tensor
    max: Tensor
    sum: Tensor
    dtype: str = "float32"


def test_names_that_data_often_has_are_free() -> None:
    fields: Any = torch.arange(14.0).reshape(7, 2).unbind()
    value = Free(*fields, batch_size=2)
    assert (value * 2)[0].values == 0
    assert lifted(torch.mean)(value, 0).mean == 4.5
    assert value.to(torch.float64).size.dtype is torch.float64
