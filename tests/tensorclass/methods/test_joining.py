"""Stack, cat, split, chunk and unbind: what torch does to each tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass

from ..declared import Batch, Flat, Point, batch, flat, point

split: Any = Tensor.split
"""Untyped in torch."""


def test_joining_asks_for_one_class() -> None:
    class Child(Flat):
        pass

    child = Child(torch.rand(2), torch.rand(2), batch_size=2)
    with pytest.raises(TypeError, match="stack: expected objects of one class, got Flat and Child"):
        Flat.stack([flat(2), child])
    with pytest.raises(TypeError, match="expected Child, got Flat"):
        Child.stack([flat(2)])  # type: ignore[list-item]


def test_joining_asks_for_objects() -> None:
    with pytest.raises(ValueError, match="stack: expected at least one object, got none"):
        Batch.stack([])


def test_joining_asks_for_batch_sizes_that_fit() -> None:
    with pytest.raises(
        ValueError, match=r"stack: expected Flat of one batch size, got \[2\] and \[3\]; pad their tensors"
    ):
        Flat.stack([flat(2), flat(3)])
    with pytest.raises(ValueError, match=r"cat: .* differ in dimension 0 only, got \[2, 3\] and \[2, 4\]"):
        Flat.cat([flat(2, 3), flat(2, 4)])
    with pytest.raises(ValueError, match=r"cat: .* differ in dimension 0 only, got \[2\] and \[\]"):
        Flat.cat([flat(2), flat()])
    with pytest.raises(ValueError, match=r"cat: .* differ in dimension 1 only, got \[2, 3\] and \[2\]"):
        Flat.cat([flat(2, 3), flat(2)], 1)
    with pytest.raises(IndexError, match="dimension 0 is out of range: Flat has 0 batch dimensions"):
        Flat.cat([flat(), flat()])
    with pytest.raises(IndexError, match="stack: dimension 2 is out of range for 1 batch dimensions"):
        Flat.stack([flat(2)], 2)


def test_joining_names_the_field_whose_shapes_do_not_fit() -> None:
    other = flat(2).replace(x=torch.rand(2, 4))
    for name, join in (("stack", Flat.stack), ("cat", Flat.cat)):
        with pytest.raises(RuntimeError, match=rf"^{name}: Flat\.x: .* size"):
            join([flat(2), other])
    far = batch(2).replace(point=point(2).to("meta"))
    with pytest.raises(RuntimeError, match=r"^stack: Point\.position: .*meta"):
        Batch.stack([batch(2), far])


def test_joining_asks_for_equal_static_values() -> None:
    with pytest.raises(ValueError, match=r"Batch\.source .* differs between the objects: 'test' and 'other'"):
        Batch.stack([batch(2), batch(2).replace(source="other")])
    assert Batch.stack([batch(2).replace(tags=["b"]), batch(2).replace(tags=["b"])]).tags == ["b"]


def test_static_arrays_are_compared_by_their_elements() -> None:
    class Scaled(TensorClass):
        x: Tensor
        scale: np.ndarray

    one, same, other = (Scaled(torch.zeros(2), np.array([s, 2])) for s in (1, 1, 3))
    assert Scaled.stack([one, same]).scale is one.scale
    with pytest.raises(ValueError, match=r"Scaled\.scale"):
        Scaled.stack([one, other])


def test_joining_asks_for_none_in_the_same_fields() -> None:
    with pytest.raises(TypeError, match=r"Batch\.mask: expected a value in every object or in none, 1 of 2 are None"):
        Batch.cat([batch(2), batch(2).replace(mask=None)])
    with pytest.raises(TypeError, match=r"Batch\.other: expected a value in every object or in none"):
        Batch.cat([batch(2).replace(other=None), batch(2)])


def test_joining_asks_for_one_class_in_nested_fields() -> None:
    class Special(Point):
        pass

    special = Special(torch.rand(2, 2), torch.rand(2), batch_size=2)
    with pytest.raises(TypeError, match=r"Batch\.point: expected values of one class, got Point and Special"):
        Batch.stack([batch(2), batch(2).replace(point=special)])
    assert type(Batch.stack([batch(2).replace(point=special)]).point) is Special


def test_sizes_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match=r"split: expected sizes that add up to 5, got \[2, 2\]"):
        batch(5).split([2, 2])
    with pytest.raises(ValueError, match="split: expected a positive size, got 0"):
        batch(5).split(0)
    with pytest.raises(ValueError, match="chunk: expected a positive number of chunks, got 0"):
        batch(5).chunk(0)
    with pytest.raises(IndexError, match="dimension 1 is out of range"):
        batch(5).split(2, 1)


def test_an_empty_batch_is_cut_into_as_many_chunks_as_are_asked_for() -> None:
    assert [piece.batch_size for piece in batch(0).chunk(3)] == [piece.shape for piece in torch.empty(0).chunk(3)]
