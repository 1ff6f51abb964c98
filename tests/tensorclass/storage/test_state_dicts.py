"""State dicts of objects, and loading them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import TensorClass
from tests.tensorclass.declared import Flat, flat

from .declared import Frozen, Inner, Noted, Outer, assert_equal, outer, through_torch


def blank(value: Outer) -> Outer:
    """An object of the same shapes with other content."""
    other = value.apply(torch.zeros_like)
    other.source = "other"
    return other


def test_a_state_dict_is_nested_like_the_object_or_flat() -> None:
    value = outer(4)
    nested = value.state_dict()
    assert list(nested) == ["x", "inner", "mask", "other"]
    assert list(nested["inner"]) == ["q"]
    flat_state = value.state_dict(flatten=True)
    assert list(flat_state) == ["x", "inner.q", "mask", "other.q"]
    assert flat_state["inner.q"].data_ptr() == value.inner.q.data_ptr()


@pytest.mark.parametrize("flatten", [True, False])
@pytest.mark.parametrize("full", [True, False])
def test_a_saved_state_dict_is_loaded_safely_and_whole(flatten: bool, full: bool) -> None:
    value = outer(4, full=full)
    value.names = ["time"]
    state = through_torch(value.state_dict(flatten=flatten) if flatten else value.state_dict())
    target = blank(value)
    target.names = None
    assert target.load_state_dict(state) is target
    assert_equal(target, value)


def test_tensors_are_copied_in_place_or_assigned() -> None:
    value, target = outer(4), blank(outer(4))
    before = [target.x.data_ptr(), target.inner.q.data_ptr()]
    inner = target.inner
    target.load_state_dict(value.state_dict())
    assert [target.x.data_ptr(), target.inner.q.data_ptr()] == before
    assert target.inner is inner
    state = value.state_dict(flatten=True)
    target.load_state_dict(state, assign=True)
    assert target.x is state["x"]
    assert target.inner.q is state["inner.q"]


def test_tensors_are_detached_unless_kept() -> None:
    value = Noted(torch.rand(3, requires_grad=True))
    detached, kept = value.state_dict(flatten=True), value.state_dict(keep_vars=True, flatten=True)
    assert not detached["x"].requires_grad
    assert kept["x"] is value.x


def test_a_prefix_and_a_destination_are_those_of_modules() -> None:
    module = nn.Linear(2, 2)
    destination = module.state_dict()
    found = flat(4).state_dict(destination, "batch.", flatten=True)
    assert found is destination
    assert list(found) == ["weight", "bias", "batch.x", "batch.y"]
    assert destination._metadata["batch"]["batch_size"] == (4,)  # type: ignore[attr-defined] # as a module's
    plain: dict[str, Tensor] = {}
    assert list(flat(4).state_dict(plain, flatten=True)) == ["x", "y"]


def test_another_batch_size_is_taken_over_with_the_tensors_themselves() -> None:
    value, target = outer(7), blank(outer(4))
    with pytest.raises(RuntimeError, match=r"expected batch size \[4\], got \[7\]; pass assign=True"):
        target.load_state_dict(value.state_dict())
    target.load_state_dict(value.state_dict(), assign=True)
    assert_equal(target, value)
    assert target.x.data_ptr() == value.x.data_ptr()


def test_a_plain_dict_of_tensors_is_loaded_where_shapes_fit_and_has_no_static_values() -> None:
    value, target = outer(4), blank(outer(4))
    target.load_state_dict(dict(value.state_dict(flatten=True)))
    assert torch.equal(target.x, value.x)
    assert target.source == "other"


def test_all_that_does_not_fit_is_in_one_error_and_nothing_is_changed() -> None:
    target = blank(outer(4))
    state: dict[str, object] = {
        "y": 1,
        "x": torch.ones(4, 2),
        "inner": {"q": 3, "z": torch.ones(1)},
        "other": {"q": torch.ones(4, 2, 2, device="meta")},
    }
    with pytest.raises(RuntimeError) as error:
        target.load_state_dict(state)
    assert str(error.value).splitlines() == [
        "Outer.load_state_dict:",
        "    missing names: 'mask'",
        "    unexpected names: 'y', 'inner.z'",
        "    Outer.x: expected shape [4, 3] for 'x', got [4, 2]",
        "    Inner.q: expected a Tensor for 'inner.q', got int",
        "    Inner.q: expected values for 'other.q', got a tensor on the meta device",
    ]
    assert_equal(target, blank(outer(4)))


def test_a_tensor_that_cannot_be_copied_is_noticed_before_another_one_is() -> None:
    one, many = torch.zeros(4), torch.zeros(1).expand(4)
    rows = (one, one.to_sparse(), "layout"), (one, one * 1j, "imaginary parts"), (many, one, "items share memory")
    for own, given, message in rows:
        target = Flat(torch.zeros(4), own, batch_size=4)
        with pytest.raises(RuntimeError, match=message):
            target.load_state_dict({"x": torch.ones(4), "y": given})
        assert target.x.eq(0).all()


def test_a_static_value_of_a_field_that_is_gone_is_unexpected() -> None:
    state: Any = flat(4).state_dict()
    state._metadata[""]["static"]["source"] = "train"
    with pytest.raises(RuntimeError, match="unexpected names: 'source'"):
        flat(4).load_state_dict(state)
    flat(4).load_state_dict(state, strict=False)


def test_the_names_in_a_message_are_few_and_short() -> None:
    state = {"x" * 100_000: 1, **{f"y{number}": 1 for number in range(9999)}}
    with pytest.raises(RuntimeError, match="'y0', 'y1', 'y2', 'y3' and 9995 more") as error:
        outer(4).load_state_dict(state)
    assert len(str(error.value)) < 1000


def test_without_strict_names_on_one_side_are_passed_over() -> None:
    target = blank(outer(4))
    target.load_state_dict({"x": torch.ones(4, 3), "y": torch.ones(1)}, strict=False)
    assert target.x.eq(1).all() and target.inner.q.eq(0).all()


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ({"batch_size": "four"}, r"Size"),
        ({"static": 5}, r"expected _metadata as state_dict\(\) writes it"),
        (5, r"expected _metadata as state_dict\(\) writes it"),
        (
            {"batch_size": torch.Size([4]), "names": ("a", "b")},
            r"Flat\.names: expected a name or None for each of 1 batch dimension",
        ),
        ({"batch_size": torch.Size([4]), "names": (1,)}, r"Flat\.names: expected a sequence of str or None"),
    ],
)
def test_metadata_that_no_object_gives_is_refused(level: object, message: str) -> None:
    state: Any = flat(4).state_dict()
    state._metadata[""] = level
    with pytest.raises((TypeError, ValueError), match=message):
        flat(4).load_state_dict(state)


def test_a_static_value_that_cannot_be_loaded_safely_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Noted\.note: a builtins\.object cannot be saved as JSON"):
        Noted(torch.zeros(1), object()).state_dict()


def test_a_locked_object_takes_elements_and_no_other_values() -> None:
    target = blank(outer(4)).lock_()
    with pytest.raises(RuntimeError, match="cannot change the fields of a Outer: it is locked"):
        target.load_state_dict(outer(4).state_dict())
    assert target.x.eq(0).all()
    target.load_state_dict(dict(outer(4).state_dict(flatten=True)))
    assert torch.equal(target.x, outer(4).x)


def test_a_frozen_object_is_not_loaded_into() -> None:
    value = Frozen(torch.zeros(4), Inner(torch.zeros(4), batch_size=4), batch_size=4)
    with pytest.raises(FrozenInstanceError, match="cannot load a state dict into a Frozen"):
        value.load_state_dict(value.state_dict())


class Described(TensorClass):
    """Nothing but a static value."""

    text: str


@pytest.mark.parametrize("wrong", [torch.zeros(2), Described("a")])
def test_a_tensor_is_not_taken_for_a_static_value(wrong: object) -> None:
    value = outer(4)
    state: Any = value.state_dict()
    state._metadata[""]["static"]["source"] = wrong
    with pytest.raises(RuntimeError, match=r"Outer\.source: expected a value as save writes it, got"):
        value.load_state_dict(state)
    assert value.source == "source 0"


def test_tensors_that_do_not_fit_the_batch_size_are_refused_and_nothing_changes() -> None:
    target, state = outer(4), outer(7).state_dict(flatten=True)
    del state["x"]
    before = target.clone()
    with pytest.raises(RuntimeError, match=r"Outer\.x: expected a shape that starts with \[7\], got \[4, 3\]"):
        target.load_state_dict(state, strict=False, assign=True)
    state = outer(4).state_dict(flatten=True)
    state._metadata["inner"]["batch_size"] = torch.Size([3])  # type: ignore[attr-defined] # as a module's
    with pytest.raises(RuntimeError, match=r"inner: expected batch size \[4\], got \[3\]; pass assign=True"):
        target.load_state_dict(state)
    assert_equal(target, before)
