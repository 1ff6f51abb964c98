"""What a static field takes, and when two of its values are the same."""

from __future__ import annotations

import pprint
from collections import deque
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy
import pytest
import torch
from tensordict import NonTensorData, NonTensorStack, TensorDict, tensorclass
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence
from torch.utils import _pytree

from qten_gen import PerItem, TensorClass
from tests.tensorclass.declared import flat


class Noted(TensorClass):
    x: Tensor
    note: Any = None


class Items(TensorClass):
    x: Tensor
    titles: PerItem[Any]


@tensorclass
class Foreign:
    x: Tensor


@dataclass
class Settings:
    weights: Any


def noted(note: object) -> Noted:
    return Noted(torch.zeros(2), note, batch_size=2)


BATCHED = {
    "a tensor": torch.zeros(2),
    "a parameter": torch.nn.Parameter(torch.zeros(2)),
    "an object": flat(2),
    "a PerItem": PerItem([1, 2], 2),
    "a TensorDict": TensorDict({"x": torch.zeros(2)}, batch_size=2),
    "a tensorclass": Foreign(torch.zeros(2)),
    "a list": ["a", torch.zeros(2)],
    "a tuple": (1, flat(2)),
    "a dict": {"a": {"b": [torch.zeros(2)]}},
    "a packed sequence": pack_sequence([torch.zeros(2)]),
    "a deque": deque([torch.zeros(2)]),
    "a key of a dict": {torch.zeros(2): 1},
    "a dataclass": Settings(torch.zeros(2)),
    "a dataclass in a list": [Settings({"a": flat(2)})],
    "an array of objects": numpy.array([torch.zeros(2), None], dtype=object),
    "a named tuple of torch": torch.zeros(2, 2).max(0),
}


@pytest.mark.parametrize("value", BATCHED.values(), ids=BATCHED)
def test_a_static_field_refuses_tensors_wherever_they_come_in(value: object) -> None:
    message = r"^Noted\.note: expected one value for the whole batch, without tensors, got .* Annotate it with"
    object_ = noted(None)
    with pytest.raises(TypeError, match=message):
        noted(value)
    with pytest.raises(TypeError, match=message):
        object_.note = value
    with pytest.raises(TypeError, match=message):
        object_.set("note", value)
    with pytest.raises(TypeError, match=message):
        object_.replace(note=value)
    with pytest.raises(TypeError, match=message):
        object_.update({"note": value})
    assert object_.note is None


def test_a_list_that_holds_itself_is_kept() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert noted(loop).note is loop


def test_what_tensordict_wraps_is_unwrapped() -> None:
    object_ = noted(NonTensorData("a"))
    assert object_.note == noted(NonTensorStack(NonTensorData("a"), NonTensorData("a"))).note == "a"
    with pytest.raises(ValueError, match=r"^Noted\.note: expected one value, got a NonTensorStack; a PerItem field "):
        object_.note = NonTensorStack(NonTensorData("a"), NonTensorData("b"))
    with pytest.raises(TypeError, match=r"got a Tensor"):
        object_.note = NonTensorData(torch.zeros(2))


def test_what_tensordict_wraps_is_unwrapped_for_items() -> None:
    stack: Any = NonTensorStack(NonTensorData("a"), NonTensorData("b"))
    assert Items(torch.zeros(2), stack, batch_size=2).titles.tolist() == ["a", "b"]
    shared: Any = NonTensorData("a", batch_size=[2])
    assert Items(torch.zeros(2), shared, batch_size=2).titles.tolist() == ["a", "a"]


SAME = [
    (numpy.ones(3), numpy.ones(3)),
    (numpy.array([1.0, numpy.nan]), numpy.array([1.0, numpy.nan])),
    (float("nan"), float("nan")),
    ([numpy.ones(3), "a"], [numpy.ones(3), "a"]),
    ({"a": (numpy.ones(3),)}, {"a": (numpy.ones(3),)}),
    (Settings(numpy.ones(3)), Settings(numpy.ones(3))),
    (numpy.array(["a", "b"]), numpy.array(["a", "b"])),
    (numpy.float32(1), 1.0),
    ([], []),
]
OTHER = [
    (numpy.ones(3), numpy.ones((1, 3))),
    (numpy.ones(3), numpy.ones(1)),
    (numpy.ones(3), 1.0),
    (1.0, numpy.ones(3)),
    (numpy.ones(3), [1.0, 1.0, 1.0]),
    (numpy.ones(3), numpy.ones(3, dtype=numpy.int64)),
    (numpy.ones(0), numpy.zeros((0, 3))),
    (numpy.array([1.0, numpy.nan]), numpy.array([numpy.nan, 1.0])),
    ([numpy.ones(3)], [numpy.ones(1)]),
    ({"a": numpy.ones(3)}, {"a": numpy.ones(3), "b": 1}),
    (Settings(numpy.ones(3)), Settings(numpy.ones(1))),
    ("a", "b"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_values_that_are_the_same_combine_and_map(left: object, right: object) -> None:
    first, second = noted(left), noted(right)
    assert Noted.stack([first, second]).note is left
    assert (first + second).note is left
    assert _pytree.tree_map(torch.add, first, second).x.equal(first.x + second.x)
    assert _pytree.tree_structure(first) == _pytree.tree_structure(second)


@pytest.mark.parametrize(("left", "right"), OTHER)
def test_values_that_differ_are_refused(left: object, right: object) -> None:
    first, second = noted(left), noted(right)
    with pytest.raises(ValueError, match=r"^Noted\.note is the same for a whole batch, but differs"):
        Noted.stack([first, second])
    with pytest.raises(ValueError, match=r"^Noted\.note is the same for a whole batch, but differs"):
        first.copy_(second)
    assert _pytree.tree_structure(first) != _pytree.tree_structure(second)


def test_equal_structures_have_one_hash() -> None:
    for left, right in SAME:
        assert hash(_pytree.tree_structure(noted(left)).context) == hash(_pytree.tree_structure(noted(right)).context)


@pytest.mark.parametrize("width", [10, 200])
def test_pprint_shows_what_repr_does(width: int) -> None:
    assert pprint.pformat(noted("a"), width=width) == repr(noted("a"))


def test_an_object_inside_itself_is_shown_as_three_dots() -> None:
    note: list[object] = [1]
    value = noted(note)
    note += [value, note]
    assert repr(value) == ("Noted(\n    x=float32[2],\n    note=[1, ..., ...],\n    batch_size=[2],\n)")


K = TypeVar("K")


class Payload(TensorClass, Generic[K]):
    """Carries whatever is the same for all its items."""

    x: Tensor
    payload: K
    more: K | None = None


def test_a_type_variable_without_a_bound_never_holds_tensors() -> None:
    for wrong in (torch.ones(2), [torch.ones(2)], Payload(torch.zeros(2), 1, batch_size=2)):
        with pytest.raises(
            TypeError, match=r"Payload.payload: expected one value for the whole batch, without tensors"
        ):
            Payload(torch.zeros(2), wrong, batch_size=2)
