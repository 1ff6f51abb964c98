"""A `with` statement over an object is for locks; `del batch.mask` takes an optional value out."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass


class Point(TensorClass):
    weight: Tensor


class Grid(TensorClass):
    x: Tensor
    point: Point
    parts: dict[str, Tensor]
    mask: Tensor | None = None
    unit: str = "kg"


class Frozen(TensorClass, frozen=True):
    x: Tensor
    mask: Tensor | None = None


def grid() -> Grid:
    values = torch.arange(24.0).reshape(2, 1, 3, 4)
    point = Point(values + 100, batch_size=[2, 1, 3])
    return Grid(values, point, {"a": values + 200}, batch_size=[2, 1, 3])


@pytest.mark.parametrize(
    "made",
    [lambda value: value.view(-1), lambda value: value + 1, copy.copy],
    ids=["view", "+", "copy"],
)
def test_a_with_statement_is_for_locks(made: Callable[[Grid], Grid]) -> None:
    with (
        pytest.raises(TypeError, match=r"^a with statement takes a Grid from \.lock_\(\) or \.unlock_\(\);"),
        made(grid()),
    ):
        pass


def test_deleting_an_optional_field_makes_it_none() -> None:
    value = grid()
    value.mask = torch.ones(2, 1, 3)
    del value.mask
    assert value.mask is None
    del value.mask
    assert value.mask is None


@pytest.mark.parametrize("name", ["x", "point", "unit", "parts"])
def test_no_other_field_can_be_deleted(name: str) -> None:
    message = rf"^Grid\.{name} cannot be deleted: every object has the fields of its class, and only optional"
    with pytest.raises(AttributeError, match=message):
        delattr(grid(), name)


def test_a_locked_or_frozen_object_lets_nothing_be_deleted() -> None:
    with pytest.raises(RuntimeError, match=r"cannot assign to Grid\.mask: it is locked"):
        del grid().lock_().mask
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(Frozen(torch.ones(2), batch_size=[2]), "mask")
