"""What `dataclasses`, `copy`, `match` and `weakref` of the standard library know of an object."""

from __future__ import annotations

import dataclasses
import gc
import inspect
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, field
from tests.tensorclass.declared import Batch, Flat, Point, batch, flat


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


class TestCopy:
    def test_the_method_that_copy_replace_calls_is_replace(self) -> None:
        value = batch(4)
        made = value.__replace__(source="new", batch_size=())
        assert (made.source, made.batch_size, made.tokens is value.tokens) == ("new", (), True)


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
    def test_a_reference_ends_with_its_object(self) -> None:
        value = flat(4)
        reference = weakref.ref(value)
        finished: list[bool] = []
        weakref.finalize(value, finished.append, True)
        del value
        gc.collect()
        assert (reference(), finished) == (None, [True])

    def test_results_hold_no_reference_to_where_they_came_from(self) -> None:
        value = flat(4)
        reference = weakref.ref(value)
        part = value[:2]
        del value
        gc.collect()
        assert (reference(), part.batch_size) == (None, (2,))


def test_a_signature_shows_fields_and_keywords() -> None:
    assert list(inspect.signature(Counted).parameters) == ["x", "note", "batch_size", "device", "names", "lock"]
