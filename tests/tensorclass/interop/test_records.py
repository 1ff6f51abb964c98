"""Instances of dataclasses and named tuples become objects; what `dataclasses` knows of an object."""

from __future__ import annotations

import dataclasses
import gc
import inspect
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched, field, is_tensorclass
from tests.tensorclass.declared import Batch, Flat, Point, batch, flat, point


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


def test_what_is_not_a_record_is_refused() -> None:
    wrong: Any = {"x": 1}
    with pytest.raises(
        TypeError, match=r"Flat\.from_dataclass: expected an instance of a dataclass or a named tuple, got a dict"
    ):
        Flat.from_dataclass(wrong)
    wrong = PlainPoint
    with pytest.raises(TypeError, match=r"expected an instance of a dataclass or a named tuple, got a type"):
        Flat.from_dataclass(wrong)
    with pytest.raises(TypeError, match=r"expected an instance of a dataclass or a named tuple, got a tuple"):
        Flat.from_namedtuple((1, 2))


def test_fields_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TypeError, match=r"no field 'position'"):
        Flat.from_dataclass(PlainPoint(torch.zeros(1), torch.zeros(1)))
    with pytest.raises(ValueError, match=r"expected batch_size or auto_batch_size, got both"):
        Batch.from_dataclass(plain(), batch_size=4, auto_batch_size=True)


def test_classes_and_objects_are_told_apart_from_others() -> None:
    assert is_tensorclass(TensorClass) and is_tensorclass(Flat) and is_tensorclass(flat(2))
    assert not any(is_tensorclass(value) for value in (PlainPoint, 3, None, int, torch.ones(2)))


class Counted(TensorClass):
    """Counts how often it is constructed."""

    x: Tensor
    note: str = field(default="a", kw_only=True)

    def __post_init__(self) -> None:
        constructed.append(self.note)


constructed: list[str] = []


class TestDataclasses:
    def test_an_object_and_its_class_are_dataclasses(self) -> None:
        assert dataclasses.is_dataclass(Batch)
        assert dataclasses.is_dataclass(batch(4))

    def test_fields_are_those_of_the_declaration_with_their_defaults(self) -> None:
        found = {each.name: each for each in dataclasses.fields(Batch)}
        assert list(found) == ["tokens", "point", "mask", "other", "source", "tags"]
        assert found["tokens"].default is dataclasses.MISSING
        assert (found["mask"].default, found["source"].default) == (None, "train")
        assert found["tags"].default_factory is list

    def test_fields_say_which_are_keyword_only(self) -> None:
        assert {each.name: each.kw_only for each in dataclasses.fields(Counted)} == {"x": False, "note": True}

    def test_asdict_copies_tensors_and_makes_dicts_of_nested_objects(self) -> None:
        value = batch(4, full=False)
        made = dataclasses.asdict(value)
        assert list(made) == ["tokens", "point", "mask", "other", "source", "tags"]
        assert torch.equal(made["point"]["position"], value.point.position)
        assert made["tokens"] is not value.tokens
        assert (made["mask"], made["tags"]) == (None, ["a"])

    def test_replace_keeps_batch_size_device_and_names(self) -> None:
        value = Flat(torch.zeros(4), torch.zeros(4), batch_size=4, device="cpu", names=["row"])
        made = dataclasses.replace(value, x=torch.ones(4))
        assert (made.batch_size, made.device, made.names) == ((4,), torch.device("cpu"), ("row",))
        assert (made.y is value.y, torch.equal(made.x, torch.ones(4))) == (True, True)

    def test_replace_checks_and_runs_post_init_like_the_constructor(self) -> None:
        constructed.clear()
        value = Counted(torch.zeros(4), batch_size=4)
        dataclasses.replace(value, note="b")
        assert constructed == ["a", "b"]
        with pytest.raises(TypeError, match=r"Counted\.x: expected a Tensor, got int 3"):
            dataclasses.replace(value, x=3)  # type: ignore[arg-type] # what is tested


class TestMatch:
    def test_fields_match_by_position_and_by_name(self) -> None:
        value: Any = batch(4)
        match value:
            case Batch(tokens, Point(position), source="test"):
                assert tokens is value.tokens
                assert position is value.point.position
            case _:
                pytest.fail("the object matches no case")

    def test_keyword_only_fields_have_no_position(self) -> None:
        assert Counted.__match_args__ == ("x",)


class TestWeakReferences:
    def test_results_hold_no_reference_to_where_they_came_from(self) -> None:
        value = flat(4)
        reference = weakref.ref(value)
        part = value[:2]
        del value
        gc.collect()
        assert (reference(), part.batch_size) == (None, (2,))


def test_a_signature_shows_fields_and_keywords() -> None:
    assert list(inspect.signature(Counted).parameters) == ["x", "note", "batch_size", "device", "names", "lock"]
