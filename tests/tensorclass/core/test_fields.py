"""Reading and writing fields, as attributes and by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from tests.tensorclass.declared import batch, flat


def test_assignment_is_checked_like_construction() -> None:
    value: Any = flat(4)
    value.x = torch.zeros(4, 7)
    assert value.x.shape == (4, 7)
    with pytest.raises(ValueError, match=r"^Flat\.x: expected a shape that starts with \[4\], got \[5\]$"):
        value.x = torch.zeros(5)
    with pytest.raises(TypeError, match=r"^Flat\.x: expected a Tensor, got a list; tensor_only=True on the class"):
        value.set("x", [1, 2, 3, 4])
    assert value.x.shape == (4, 7)


def test_assignment_moves_to_the_device() -> None:
    value = flat(4).to("meta")
    value.x = torch.zeros(4)
    assert value.x.device.type == "meta"


class Node(TensorClass):
    """One that can hold others of its class."""

    x: Tensor
    child: Node | None = None


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_an_object_cannot_be_put_inside_itself(depth: int) -> None:
    holder = value = Node(torch.zeros(4), batch_size=4)
    for _ in range(depth):
        holder = Node(torch.zeros(4), holder, batch_size=4)
    writes: list[Callable[[], object]] = [
        lambda: setattr(value, "child", holder),
        lambda: value.set("child", holder),
        lambda: value.update(child=holder),
        lambda: value.update({"x": torch.ones(4), "child": holder}),
    ]
    for write in writes:
        with pytest.raises(
            ValueError, match=r"^Node\.child: an object cannot hold itself; use \.clone\(recurse=False\)$"
        ):
            write()
    assert value.child is None and value.x.sum() == 0
    value.child = holder.clone(recurse=False)
    assert value.child is not holder


def test_an_undeclared_attribute_cannot_be_written() -> None:
    value: Any = flat(4)
    with pytest.raises(AttributeError, match="'Flat' object has no attribute 'z'"):
        value.z = torch.zeros(4)


def test_setting_the_batch_size_raises_nested_objects() -> None:
    value = batch(4)
    value.batch_size = ()
    value.point.batch_size = ()
    value.batch_size = 4
    assert value.point.batch_size == (4,)


def test_a_batch_size_that_does_not_fit_changes_nothing() -> None:
    value = batch(4)
    value.point.batch_size = ()
    value.point.weight = torch.zeros(())
    value.batch_size = ()
    with pytest.raises(ValueError, match=r"Point\.weight: expected a shape that starts with \[4\], got \[\]"):
        value.batch_size = 4
    assert value.batch_size == ()
    assert value.point.batch_size == ()


def test_the_device_cannot_be_set() -> None:
    value: Any = flat(4)
    with pytest.raises(AttributeError, match=r"the device of a Flat cannot be set; use \.to\('cpu'\)"):
        value.device = "cpu"


def test_get_reads_fields_and_nested_fields() -> None:
    value = batch(4)
    assert value.get("tokens") is value.tokens
    assert value.get("source") == "test"
    assert value.get(("point", "weight")) is value.point.weight


def test_get_returns_the_default_for_what_is_not_there() -> None:
    value = batch(4, full=False)
    assert value.get("tokns", 3) == 3
    assert value.get(("other", "weight"), None) is None
    assert value.get("mask", 3) is None


def test_get_names_the_field_that_was_meant() -> None:
    with pytest.raises(KeyError) as caught:
        batch(4).get("tokns")
    assert str(caught.value) == "Batch has no field 'tokns'; did you mean 'tokens'?"
    with pytest.raises(KeyError, match=r"Point has no field 'z'; the fields are: position, weight"):
        batch(4).get(("point", "z"))
    with pytest.raises(KeyError, match=r"other is None: it has no field 'weight'"):
        batch(4, full=False).get(("other", "weight"))


def test_set_writes_fields_and_nested_fields_with_checks() -> None:
    value, new = batch(4), torch.zeros(4)
    assert value.set(("point", "weight"), new) is value
    assert value.point.weight is new
    with pytest.raises(TypeError, match=r"Batch\.tokens: expected a Tensor"):
        value.set("tokens", 3)
    with pytest.raises(KeyError, match="did you mean 'mask'"):
        value.set("masc", new)


def test_replace_constructs_another_object() -> None:
    value, tokens = batch(4), torch.zeros(4, 9)
    replaced = value.replace(tokens=tokens, source="new")
    assert replaced.tokens is tokens
    assert replaced.source == "new"
    assert replaced.point.position is value.point.position
    assert replaced.batch_size == (4,)
    assert value.source == "test"
    assert value.replace(batch_size=()).batch_size == ()
    with pytest.raises(TypeError, match=r"Batch\.replace: no field 'tokns'; did you mean 'tokens'"):
        value.replace(tokns=tokens)
    with pytest.raises(ValueError, match=r"Batch\.tokens"):
        value.replace(tokens=torch.zeros(3))


def test_keys_and_items_list_every_field_in_order() -> None:
    value = batch(4, full=False)
    assert value.keys() == ("tokens", "point", "mask", "other", "source", "tags")
    assert [id(held) for _, held in value.items()] == [id(getattr(value, name)) for name in value.keys()]
    assert value.items()[2:5] == (("mask", None), ("other", None), ("source", "test"))
