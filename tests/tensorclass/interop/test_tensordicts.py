"""To and from the TensorDicts of tensordict."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass, Unbatched, field
from tests import fresh_process
from tests.tensorclass.declared import Batch, Flat, Point, assert_applied, batch, flat, point, tensors

tensordict: Any = pytest.importorskip("tensordict", reason="these tests hold both libraries against each other")
TensorDict = tensordict.TensorDict


class Numbered(TensorClass):
    """An optional tensor whose default is not None."""

    x: Tensor
    extra: Tensor | None = field(default_factory=lambda: torch.ones(3))


def test_a_tensordict_shares_the_tensors_and_has_batch_size_and_device() -> None:
    value = batch(4).to("cpu")
    made = value.to_tensordict()
    assert made.batch_size == (4,)
    assert made.device == torch.device("cpu")
    assert made["tokens"] is value.tokens
    assert made["point", "position"] is value.point.position
    assert made["other"].batch_size == (4, 2)


def test_static_values_are_non_tensor_entries() -> None:
    made = batch(4).to_tensordict()
    assert (made["source"], made["tags"]) == ("test", ["a"])
    assert made[:2]["tags"] == ["a"]


def test_a_field_that_is_none_is_an_entry_unless_told_otherwise() -> None:
    value = batch(4, full=False)
    assert value.to_tensordict()["mask"] is None
    assert set(value.to_tensordict(retain_none=False).keys()) == {"tokens", "point", "source", "tags"}


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("size", [(), (4,), (2, 3)])
def test_there_and_back_is_the_same_object(size: tuple[int, ...], full: bool) -> None:
    value = batch(*size, full=full)
    back = Batch.from_tensordict(value.to_tensordict())
    assert_applied(back, value, lambda tensor: tensor)
    assert (back.source, back.tags, back.device) == ("test", ["a"], None)
    assert all(tensors(back)[path] is tensor for path, tensor in tensors(value).items())


def test_a_static_value_that_differs_between_the_items_is_refused() -> None:
    stacked: Any = TensorDict.stack([batch(4).replace(source=source).to_tensordict() for source in "ab"])
    with pytest.raises(ValueError, match=r"Batch\.source: expected one value, got a NonTensorStack; a PerItem "):
        Batch.from_tensordict(stacked)


def test_a_missing_entry_gets_its_default_and_none_where_there_is_no_default() -> None:
    made = Numbered.from_tensordict(TensorDict({"x": torch.zeros(3)}, [3]))
    assert torch.equal(made.extra if made.extra is not None else torch.zeros(3), torch.ones(3))

    class Bare(TensorClass):
        x: Tensor | None

    assert Bare.from_tensordict(TensorDict({}, [3])).x is None


def test_an_entry_that_is_none_stays_none() -> None:
    value = Numbered(torch.zeros(3), None, batch_size=3)
    assert Numbered.from_tensordict(value.to_tensordict()).extra is None


def test_further_values_can_be_given_beside_the_tensordict() -> None:
    made = TensorDict({"tokens": torch.zeros(4, 3)}, [4])
    back = Batch.from_tensordict(made, {"point": point(4), "source": "given"})
    assert (back.source, back.point.batch_size) == ("given", (4,))
    with pytest.raises(ValueError, match=r"Flat\.from_tensordict: 'x' is given twice"):
        Flat.from_tensordict(flat(4).to_tensordict(), {"x": torch.zeros(4)})


def test_an_entry_that_is_not_a_field_is_refused_unless_told_otherwise() -> None:
    made = flat(4).to_tensordict().set("z", torch.zeros(4))
    with pytest.raises(
        TypeError, match=r"Flat\.from_tensordict: no field 'z'.*; safe=False ignores keys that are not fields"
    ):
        Flat.from_tensordict(made)
    assert Flat.from_tensordict(made, safe=False).keys() == ("x", "y")


def test_a_missing_entry_without_default_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Flat\.from_tensordict: missing 'y'"):
        Flat.from_tensordict(TensorDict({"x": torch.zeros(4)}, [4]))


def test_a_lazy_stack_is_read_as_its_dense_form() -> None:
    stacked = tensordict.lazy_stack([flat(4).to_tensordict() for _ in range(2)])
    assert Flat.from_tensordict(stacked).batch_size == (2, 4)


def test_an_object_of_a_class_of_tensordict_is_taken_too() -> None:
    theirs = type("Theirs", (tensordict.TensorClass,), {"__annotations__": {"x": Tensor, "y": Tensor}})
    value = flat(4)
    back = Flat.from_tensordict(theirs(x=value.x, y=value.y, batch_size=[4]))
    assert (back.x is value.x, back.batch_size) == (True, (4,))


def test_a_tensordict_is_written_into_the_tensors_that_are_there() -> None:
    value, given = batch(4), batch(4).to_tensordict().exclude("source", "tags")  # in place, only tensors are written
    before = tensors(value)
    assert value.update_(given) is value
    for path, tensor in tensors(value).items():
        assert tensor is before[path]
        assert torch.equal(tensor, given[tuple(path.split("."))])
    with pytest.raises(TypeError, match="^copy_: expected a Batch, got a TensorDict; update_ takes one$"):
        value.copy_(given)
    with pytest.raises(KeyError, match="wait"):
        value.update_(TensorDict({"wait": torch.zeros(4)}, [4]))


class TestNested:
    """A TensorDict assigned to a nested field."""

    def test_the_constructor_converts_it(self) -> None:
        given: Any = point(4).to_tensordict()
        made = Batch(torch.zeros(4, 3), given, batch_size=4)
        assert type(made.point) is Point
        assert made.point.position is given["position"]

    def test_setting_converts_it(self) -> None:
        value, given = batch(4), point(4).to_tensordict()
        value.set("point", given)
        assert value.point.weight is given["weight"]
        owner: Any = value
        owner.other = given
        assert type(owner.other) is Point

    def test_it_is_raised_to_the_batch_size_of_its_owner(self) -> None:
        given: Any = TensorDict({"position": torch.zeros(4, 2), "weight": torch.zeros(4)}, [])
        assert Batch(torch.zeros(4, 3), given, batch_size=4).point.batch_size == (4,)

    def test_keys_that_do_not_fit_are_refused(self) -> None:
        given: Any = TensorDict({"position": torch.zeros(4), "wait": torch.zeros(4)}, [4])
        message = r"Batch\.point: Point\.from_tensordict: no field 'wait'; did you mean 'weight'\?"
        with pytest.raises(TypeError, match=message):
            Batch(torch.zeros(4, 3), given, batch_size=4)


def test_a_field_takes_an_object_back_out_of_a_tensordict() -> None:
    inner = point(4)
    held = TensorDict({"tokens": torch.zeros(4, 3)}, [4]).set_non_tensor("point", inner)
    assert Batch.from_tensordict(held).point is inner


def test_tensordict_is_imported_when_it_is_asked_for_and_not_before() -> None:
    program = """
import sys, torch
from torch import Tensor
from qten_gen import TensorClass

class Inner(TensorClass):
    x: Tensor

class Outer(TensorClass):
    inner: Inner

try:
    Outer({"x": torch.zeros(3)})
except TypeError as error:
    print(error)
print("tensordict" in sys.modules)
Inner(torch.zeros(3)).to_tensordict()
print("tensordict" in sys.modules)
"""
    done = fresh_process.run("-W", "ignore", "-c", program, env={**os.environ, "PYTHONPATH": os.getcwd()})
    assert (done.stdout.splitlines(), done.stderr) == (["Outer.inner: expected Inner, got a dict", "False", "True"], "")


def test_without_tensordict_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensordict", None)
    message = r"Flat\.to_tensordict needs the package tensordict, which is not installed: pip install tensordict"
    with pytest.raises(ImportError, match=message):
        flat(4).to_tensordict()
    with pytest.raises(TypeError, match="expected a TensorDict, got a dict"):
        values: Any = {}
        Flat.from_tensordict(values)


def test_names_of_the_dimensions_are_carried_over() -> None:
    value = Flat(torch.zeros(2, 3), torch.zeros(2, 3), batch_size=[2, 3], names=["run", None])
    made = value.to_tensordict()
    assert made.names == ["run", None]
    assert Flat.from_tensordict(made).names == ("run", None)
    assert flat(4).to_tensordict().names == [None]


class Photos(TensorClass):
    """One Python value an item."""

    pixels: Tensor
    titles: PerItem[str]
    tags: PerItem[list[int]] | None = None


@pytest.mark.parametrize("size", [(), (2,), (2, 3)])
def test_values_of_items_are_a_stack_of_non_tensor_data(size: tuple[int, ...]) -> None:
    count = torch.Size(size).numel()
    titles = PerItem([str(number) for number in range(count)], size)
    value = Photos(torch.rand(*size, 4), titles, PerItem([[number] for number in range(count)], size), batch_size=size)
    made: Any = value.to_tensordict()
    back = Photos.from_tensordict(made)
    assert (back.titles, back.tags) == (value.titles, value.tags)
    if size:
        assert Photos.from_tensordict(made[1]).titles == value.titles[1]


def test_one_value_for_all_items_becomes_one_for_each() -> None:
    made = TensorDict({"pixels": torch.rand(2)}, [2]).set_non_tensor("titles", "oak")
    assert Photos.from_tensordict(made).titles.tolist() == ["oak", "oak"]


class Heads(TensorClass):
    """Several tensors in one field."""

    logits: dict[str, Tensor]
    layers: list[Tensor]
    table: Unbatched[dict[str, Tensor]]


def test_a_dict_or_list_of_tensors_is_a_tensordict() -> None:
    layers = [torch.rand(4, 2) for _ in range(11)]
    value = Heads({"kind": torch.rand(4, 3)}, layers, {"rows": torch.rand(7)}, batch_size=4)
    made = value.to_tensordict()
    assert made["logits", "kind"] is value.logits["kind"]
    assert list(made["layers"].keys()) == [str(position) for position in range(11)]
    back = Heads.from_tensordict(made[:2])
    assert torch.equal(back.logits["kind"], value.logits["kind"][:2])
    assert all(torch.equal(mine, theirs[:2]) for mine, theirs in zip(back.layers, layers, strict=True))
    assert torch.equal(back.table["rows"], value.table["rows"])
    assert type(back.table["rows"]) is Tensor


class Coded(TensorClass):
    """A tensor that the batch does not carry."""

    x: Tensor
    table: Unbatched[Tensor]


def test_an_unbatched_tensor_is_one_in_the_tensordict_too() -> None:
    value = Coded(torch.zeros(4), torch.rand(7), batch_size=4)
    made: Any = value.to_tensordict()
    assert isinstance(made["table"], tensordict.UnbatchedTensor)
    back = Coded.from_tensordict(made[:2])
    assert (type(back.table), back.table.data_ptr()) == (Tensor, value.table.data_ptr())
    assert torch.equal(back.table, value.table)
