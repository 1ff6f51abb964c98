"""What an object says about itself, and what it finds out from its tensors."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched

from ..declared import Batch, Flat, Point, batch, flat, point


class Looked(TensorClass):
    """With a tensor that the batch does not carry."""

    x: Tensor
    table: Unbatched[Tensor]


def test_the_shape_is_the_batch_size() -> None:
    value = batch(4, 5)
    assert value.shape == value.size() == torch.Size([4, 5])
    assert (value.size(0), value.size(-1)) == (4, 5)
    assert (value.ndim, value.dim(), value.batch_dims, value.numel()) == (2, 2, 2, 20)
    assert (batch().ndim, batch().numel(), batch(0, 3).numel()) == (0, 1, 0)
    with pytest.raises(IndexError, match="dimension 2 is out of range: Batch has 2 batch dimensions"):
        value.size(2)


def test_depth_counts_objects_in_objects() -> None:
    class Album(TensorClass):
        batch: Batch

    assert (flat(4).depth, batch(4).depth, Album(batch(4), batch_size=4).depth) == (0, 1, 2)


def test_the_dtype_is_that_of_all_tensors() -> None:
    assert flat(4).dtype is torch.float32
    assert batch(4).dtype is None
    assert not batch(4).is_floating_point()
    assert flat(4).is_floating_point()


def test_an_object_is_where_all_its_tensors_are() -> None:
    value = flat(4)
    assert (value.is_cpu, value.is_cuda, value.is_meta) == (True, False, False)
    assert value.to("meta").is_meta
    value.x = value.x.to("meta")
    assert (value.is_cpu, value.is_meta) == (False, False)


def test_elements_are_counted_with_and_without_duplicates() -> None:
    x = torch.zeros(4, 3)
    assert Flat(x, x, batch_size=4).param_count() == 24
    assert Flat(x, x, batch_size=4).param_count(count_duplicates=False) == 12
    assert batch(4).param_count() == sum(leaf.numel() for leaf in batch(4)._leaves())


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
    value = flat(4, 5).refine_names("time", "row").auto_batch_size_(1)
    assert value.names == ("time",)


def test_the_device_is_found_from_the_tensors_and_cleared() -> None:
    value = batch(4)
    assert value.device is None
    assert value.auto_device_().device == torch.device("cpu")
    assert value.point.device == torch.device("cpu")
    assert value.clear_device_().device is None
    assert value.point.device is None
    value.tokens = value.tokens.to("meta")
    assert value.auto_device_().device is None
    assert value.point.device == torch.device("cpu")


@pytest.mark.parametrize("name", ["auto_batch_size_", "auto_device_", "clear_device_"])
def test_locked_and_frozen_objects_keep_batch_size_and_device(name: str) -> None:
    class Fixed(TensorClass, frozen=True):
        point: Point

    with pytest.raises(RuntimeError, match="a Flat: it is locked"):
        getattr(flat(4).lock_(), name)()
    with pytest.raises(FrozenInstanceError, match="a Fixed: the class is frozen"):
        getattr(Fixed(point(4)), name)()


class Seen(TensorClass, shadow=True):
    """Fields with names of methods."""

    depth: Tensor
    to: Tensor  # type: ignore[assignment] # the same
    is_locked: Tensor | None = None  # type: ignore[assignment] # the same


class Frame(TensorClass):
    seen: Seen


def test_objects_may_have_fields_called_like_methods() -> None:
    frame = Frame(Seen(torch.rand(3, 2), torch.rand(3, 2)), batch_size=())
    assert frame.depth == 1
    assert frame.auto_batch_size_().seen.batch_size == (3, 2)
    assert frame.auto_device_().seen.device == torch.device("cpu")
    assert frame.clear_device_().seen.device is None
