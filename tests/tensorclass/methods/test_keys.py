"""Fields by key: listed, read at an index, set with defaults, taken out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched

from ..declared import Batch, batch, flat, point


class Tagged(TensorClass):
    """With fields that are optional, static or not carried by the batch."""

    x: Tensor
    table: Unbatched[Tensor]
    note: str | None = None


def tagged() -> Tagged:
    return Tagged(torch.arange(4), torch.arange(3), "new", batch_size=4)


def test_keys_of_nested_objects_are_tuples() -> None:
    value = batch(4, full=False)
    assert value.keys(include_nested=True) == (
        "tokens", "point", ("point", "position"), ("point", "weight"), "mask", "other", "source", "tags",
    )  # fmt: skip


def test_an_object_without_a_tensor_is_empty() -> None:
    class Note(TensorClass):
        x: Tensor | None = None
        text: str = ""

    assert Note().is_empty()
    assert not Note(torch.ones(())).is_empty()


def test_in_is_refused_because_it_could_mean_two_things() -> None:
    with pytest.raises(
        TypeError, match=r"^`in` is not defined for Flat: it has items and fields; use `in batch\.keys\(\)`$"
    ):
        "x" in flat(4)  # noqa: B015


def test_a_key_is_a_name_or_a_tuple_of_names() -> None:
    value: Any = tagged()
    with pytest.raises(TypeError, match="^expected the name of a field or a tuple of names as the key, got int 0$"):
        value.get(0)
    with pytest.raises(TypeError, match="^expected the name of a field or a tuple of names as the key, got None$"):
        value.set(None, torch.zeros(4))


def test_set_moves_to_the_device_without_waiting_where_asked() -> None:
    value = flat(4).to("meta")
    assert value.set("x", torch.zeros(4), non_blocking=True).x.device.type == "meta"


def test_setdefault_sets_what_is_none() -> None:
    value, mask = batch(4, full=False), torch.ones(4)
    assert value.setdefault("mask", mask) is mask
    assert value.setdefault("mask", torch.zeros(4)) is mask
    assert value.setdefault(("point", "weight"), None) is value.point.weight
    with pytest.raises(ValueError, match=r"Batch\.other"):
        value.setdefault("other", point(3))


def test_pop_takes_the_value_out_of_an_optional_field() -> None:
    value = batch(4)
    mask = value.mask
    assert value.pop("mask") is mask
    assert value.mask is None
    for key in (("point", "weight"), "source"):
        with pytest.raises(TypeError, match="cannot be popped: only optional tensors and objects can be; read it with"):
            value.pop(key)
    with pytest.raises(RuntimeError, match=r"cannot assign to Batch\.other: it is locked"):
        value.lock_().pop("other")


def test_deleting_an_optional_field_makes_it_none() -> None:
    value = batch(4)
    del value.mask
    assert value.mask is None
    for name in ("tokens", "point", "source"):
        with pytest.raises(
            AttributeError, match=rf"^Batch\.{name} cannot be deleted: every object has the fields of its"
        ):
            delattr(value, name)
    with pytest.raises(RuntimeError, match=r"cannot assign to Batch\.other: it is locked"):
        del value.lock_().other


def test_update_takes_tuples_and_objects_of_the_class() -> None:
    value, other, weight = batch(4), batch(4), torch.ones(4)
    value.update({("point", "weight"): weight, "source": "new"})
    assert value.point.weight is weight
    value.update(other)
    assert value.tokens is other.tokens
    assert value.source == "test"
    with pytest.raises(TypeError, match="^expected a mapping or a Batch, got Flat$"):
        value.update(flat(4))  # type: ignore[call-overload] # what a checker says too
    with pytest.raises(KeyError, match="Point has no field 'wieght'"):
        value.update({"source": "third", ("point", "wieght"): weight})
    assert value.source == "test"


@pytest.mark.parametrize(
    ("wrong", "error"), [({"mask": torch.zeros(3)}, ValueError), ({"point": {"weight": "a"}}, TypeError)]
)
def test_update_sets_no_field_if_a_value_does_not_fit(wrong: dict[str, Any], error: type[Exception]) -> None:
    value = batch(4)
    before, position = value.tokens, value.point.position
    with pytest.raises(error):
        value.update({"tokens": torch.zeros(4), "point": {"position": torch.zeros(4, 3)}, **wrong})
    assert value.tokens is before
    assert value.point.position is position


def test_selected_fields_are_a_dict_that_update_takes() -> None:
    value, other = batch(4), batch(4)
    selected = value.select("source", ("point", "weight"), ("point", "position"))
    assert selected == {"source": "test", "point": {"weight": value.point.weight, "position": value.point.position}}
    other.update(selected)
    assert other.point.weight is value.point.weight
    with pytest.raises(KeyError, match="Point has no field 'z'"):
        value.select(("point", "z"))


class Outer(TensorClass):
    batch: Batch
    spare: Batch | None = None


_PATHS: list[str | tuple[str, ...]] = [
    "batch", ("batch",), ("batch", "tokens"), ("batch", "point"), ("batch", "point", "weight"), "spare",
]  # fmt: skip


@pytest.mark.parametrize("keys", [*permutations(_PATHS, 2), *permutations(_PATHS, 3)])
def test_every_key_selected_leads_to_the_whole_of_its_field(keys: Sequence[str | tuple[str, ...]]) -> None:
    value = Outer(batch(4), batch_size=4)
    selected = value.select(*keys)
    for key in keys:
        found: Any = selected
        for name in (key,) if isinstance(key, str) else key:
            found = found[name] if isinstance(found, dict) else getattr(found, name)
        assert found is value.get(key)
    names = {key if isinstance(key, str) else key[0] for key in keys}
    assert selected.keys() == names
    assert value.exclude(*keys).keys() >= {"batch", "spare"} - names
    other = Outer(batch(4), batch_size=4)
    other.update(selected)
    assert all(other.get(key) is value.get(key) for key in keys)


def test_update_sets_below_an_object_that_it_sets_too() -> None:
    value, old, new, weight = Outer(batch(4), batch_size=4), batch(4), batch(4), torch.full((4,), 7.0)
    value.batch, before = old, old.point.weight
    value.update({"batch": new, ("batch", "point", "weight"): weight})
    assert value.batch is new
    assert new.point.weight is weight
    assert old.point.weight is before
    value.update({("batch", "point", "weight"): before, "batch": old})
    assert value.batch.point.weight is before
    value.update({"batch": {"point": point(4), ("point", "weight"): weight}})
    assert value.batch.point.weight is weight


def test_update_with_an_unknown_name_in_a_mapping_writes_nothing() -> None:
    value = batch(4)
    before = value.tokens
    with pytest.raises(KeyError, match="Point has no field 'wieght'"):
        value.update({"tokens": torch.zeros(4), "point": {"wieght": torch.zeros(4)}})
    assert value.tokens is before


def test_excluded_fields_are_left_out_of_the_dict() -> None:
    value = batch(4)
    left = value.exclude("tokens", "other", ("mask",), ("point", "weight"))
    assert left == {"point": {"position": value.point.position}, "source": "test", "tags": ["a"]}
    with pytest.raises(KeyError, match="did you mean 'tokens'"):
        value.exclude("tokns")


class Several(TensorClass):
    x: Tensor
    heads: dict[str, Tensor]
    parts: list[Tensor]


def test_tensors_of_dicts_and_lists_have_keys_of_their_own() -> None:
    heads, parts = {"a": torch.ones(2), "b": torch.zeros(2)}, [torch.ones(2, 3)]
    value = Several(torch.zeros(2), heads, parts, batch_size=2)
    keys = value.keys(include_nested=True, leaves_only=True)
    assert keys == ("x", ("heads", "a"), ("heads", "b"), ("parts", "0"))
    assert [value.get(key) is tensor for key, tensor in value.items(True, True)] == [True] * 4
    assert value.keys(leaves_only=True) == value.keys(include_nested=True) == ("x", "heads", "parts")
    with pytest.raises(KeyError, match=r"^heads has no tensor 'c'; there are: a, b$"):
        value.get(("heads", "c"))
