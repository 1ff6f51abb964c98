"""From dataclass instances and named tuples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched
from tests.tensorclass.declared import Batch, Flat, Point, point


@dataclass
class PlainPoint:
    """As a dataclass."""

    position: Tensor
    weight: Tensor


@dataclass(frozen=True, slots=True)
class PlainBatch:
    """As a dataclass, with some of the fields."""

    tokens: Tensor
    point: PlainPoint | Point
    source: str = "plain"


class Pair(NamedTuple):
    """Two tensors."""

    x: Tensor
    y: Tensor


def plain() -> PlainBatch:
    return PlainBatch(torch.zeros(4, 3), PlainPoint(torch.zeros(4, 3, 2), torch.ones(4, 3)))


def test_a_dataclass_instance_gives_its_values_and_nested_ones_too() -> None:
    source = plain()
    made = Batch.from_dataclass(source, batch_size=4)
    assert (type(made.point), made.point.batch_size, made.source) == (Point, (4,), "plain")
    assert made.tokens is source.tokens
    assert (made.mask, made.tags) == (None, [])


def test_nothing_is_inferred_unless_asked_for() -> None:
    assert Batch.from_dataclass(plain()).batch_size == ()
    assert Batch.from_dataclass(plain(), auto_batch_size=True).batch_size == (4, 3)


def test_the_inferred_batch_size_counts_nested_objects() -> None:
    source = PlainBatch(torch.zeros(4, 3), point(4, 2))
    assert Batch.from_dataclass(source, auto_batch_size=True).batch_size == (4,)


def test_the_inferred_batch_size_leaves_out_what_the_batch_does_not_carry() -> None:
    class Coded(TensorClass):
        x: Tensor
        y: Unbatched[Tensor]

    made = Coded.from_dataclass(Flat(torch.zeros(4, 3), torch.zeros(7)), auto_batch_size=True)
    assert made.batch_size == (4, 3)


def test_a_named_tuple_gives_its_values() -> None:
    pair = Pair(torch.zeros(4, 3), torch.ones(4))
    made = Flat.from_namedtuple(pair, auto_batch_size=True)
    assert (made.x is pair.x, made.batch_size) == (True, (4,))


def test_an_object_of_another_class_with_these_fields_is_taken_too() -> None:
    class Renamed(TensorClass):
        position: Tensor
        weight: Tensor

    value = point(4)
    made = Renamed.from_dataclass(value, batch_size=4)
    assert (type(made), made.position is value.position) == (Renamed, True)


def test_what_is_not_a_record_is_refused() -> None:
    wrong: Any = {"x": 1}
    with pytest.raises(TypeError, match=r"Flat\.from_dataclass: expected an instance of a dataclass, got a dict"):
        Flat.from_dataclass(wrong)
    wrong = PlainPoint
    with pytest.raises(TypeError, match=r"expected an instance of a dataclass, got a type"):
        Flat.from_dataclass(wrong)
    with pytest.raises(TypeError, match=r"Flat\.from_namedtuple: expected a named tuple, got a tuple"):
        Flat.from_namedtuple((1, 2))


def test_fields_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TypeError, match=r"no field 'position'"):
        Flat.from_dataclass(PlainPoint(torch.zeros(1), torch.zeros(1)))
    with pytest.raises(ValueError, match=r"expected batch_size or auto_batch_size, got both"):
        Batch.from_dataclass(plain(), batch_size=4, auto_batch_size=True)
