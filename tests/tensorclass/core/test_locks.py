"""Locked and frozen objects: which changes they refuse, operators that change what a field holds, and who they hold."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from qten_gen import PerItem, TensorClass, lifted
from tests.tensorclass.declared import Batch, Flat, batch, flat, point


class Album(TensorClass, frozen=True):
    """Frozen, with classes in its fields that are not."""

    cover: Flat
    page: Batch | None = None
    x: Tensor | None = None
    labels: PerItem[str] | None = None
    title: str = "a"


def locked_flat() -> Flat:
    return Flat(torch.zeros(4, 3), torch.zeros(4), batch_size=4, lock=True)


def album() -> Album:
    return Album(flat(4), batch(4), torch.zeros(4), PerItem(["a"] * 4, 4), batch_size=4)


FROZEN: dict[str, Callable[[Any], object]] = {
    "an attribute": lambda value: setattr(value, "x", torch.ones(4)),
    "a static value": lambda value: setattr(value, "title", "b"),
    "an object": lambda value: setattr(value, "cover", flat(4)),
    "batch_size": lambda value: setattr(value, "batch_size", ()),
    "names": lambda value: setattr(value, "names", ["row"]),
    "an item": lambda value: value.__setitem__(0, value[1]),
    "an item of numbers": lambda value: value.__setitem__(0, 1),
    "set": lambda value: value.set("x", torch.ones(4)),
    "set_": lambda value: value.set_("x", 1),
    "set_ of a nested field": lambda value: value.set_(("cover", "x"), 1),
    "setdefault": lambda value: value.replace(page=None).setdefault("page", batch(4)),
    "pop": lambda value: value.pop("page"),
    "update": lambda value: value.update({"title": "b"}),
    "update_": lambda value: value.update_({"x": 1}),
    "update inplace": lambda value: value.update({"x": 1}, inplace=True),
    "copy_": lambda value: value.copy_(value + 1),
    "zero_ of a nested object": lambda value: value.cover.zero_(),
    "fill_": lambda value: value.fill_(1),
    "masked_fill_": lambda value: value.masked_fill_(torch.ones(4, dtype=torch.bool), 7.0),
    "detach_": lambda value: value.detach_(),
    "+=": lambda value: value.__iadd__(1),
    "requires_grad_": lambda value: value.requires_grad_(),
    "auto_batch_size_": lambda value: value.auto_batch_size_(),
    "clear_device_": lambda value: value.clear_device_(),
    "a value of an item": lambda value: value.update_({"labels": ["z"] * 4}),
}


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_object_refuses_every_write(name: str) -> None:
    value = album()
    before = value.clone()
    with pytest.raises(FrozenInstanceError):
        FROZEN[name](value)
    assert lifted(torch.equal)(value, before)


def test_the_error_of_a_frozen_class_says_what_to_do() -> None:
    with pytest.raises(
        FrozenInstanceError, match=r"cannot assign to Album\.x: the class is frozen; use \.replace\(x=\.\.\.\)"
    ):
        album().x = torch.ones(4)  # type: ignore[misc] # what a checker says too


@pytest.mark.parametrize("name", ["batch_size", "names", "an attribute", "auto_batch_size_", "clear_device_"])
def test_a_locked_object_refuses_other_values_sizes_and_names(name: str) -> None:
    value = locked_flat()
    with pytest.raises(RuntimeError, match="a Flat: it is locked|Flat.x: it is locked"):
        FROZEN[name](value)
    assert value.batch_size == (4,)


@pytest.mark.parametrize(
    "name", ["set_", "update_", "update inplace", "fill_", "masked_fill_", "an item", "+=", "requires_grad_"]
)
def test_a_locked_object_allows_writes_into_its_tensors(name: str) -> None:
    value = locked_flat()
    FROZEN[name](value)
    assert value.is_locked


def test_the_constructor_locks_after_post_init() -> None:
    class Doubled(TensorClass):
        x: Tensor

        def __post_init__(self) -> None:
            self.x = self.x * 2

    assert Doubled(torch.ones(2), lock=True).x.tolist() == [2, 2]


def test_the_dict_of_an_object_that_a_frozen_one_holds_is_a_copy() -> None:
    class Inner(TensorClass):
        parts: dict[str, Tensor]

    class Outer(TensorClass, frozen=True):
        inner: Inner

    inner = Inner({"a": torch.zeros(2)})
    value = Outer(inner)
    inner.parts["b"] = torch.ones(2)

    assert [*value.inner.parts] == ["a"]


RESULTS: dict[str, Callable[[Album], Any]] = {
    "clone": lambda value: value.clone(),
    "index": lambda value: value[1:],
    "reshape": lambda value: value.reshape(2, 2),
    "equal": lambda value: value == value,
    "stack": lambda value: Album.stack([value, value]),
    "split": lambda value: value.split(2)[0],
    "replace": lambda value: value.replace(),
    "to": lambda value: value.to("meta"),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_an_operation_makes_of_a_frozen_object_is_frozen_throughout(name: str) -> None:
    result = RESULTS[name](album())
    for frozen in (result, result.cover, result.page, result.page.point):
        with pytest.raises(FrozenInstanceError):
            frozen.batch_size = ()


def test_a_frozen_object_is_frozen_throughout_in_transforms_and_compiled_functions() -> None:
    value = album()
    compiled = torch.compile(
        lambda frozen: Album(frozen.cover.clone(), batch_size=4)[:2], fullgraph=True, backend="eager"
    )
    for result in (tree_map(torch.clone, value), torch.vmap(lambda frozen: frozen.clone())(value), compiled(value)):
        assert (result.is_locked, result.cover.is_locked) == (True, True)


def test_nested_objects_are_locked_and_unlocked_with_their_holder() -> None:
    inner = point(4)
    value = Batch(torch.zeros(4), inner, batch_size=4, lock=True)
    with pytest.raises(RuntimeError, match=r"cannot assign to Point\.weight: it is locked"):
        inner.weight = torch.zeros(4)
    value.unlock_()
    assert value.point is inner and not inner.is_locked


def test_an_object_in_a_locked_one_cannot_be_unlocked_alone() -> None:
    value = batch(4).lock_()
    with pytest.raises(
        RuntimeError, match=r"^cannot unlock a Point: a locked Batch holds it; unlock that, or use \.clone\(\)$"
    ):
        value.point.unlock_()
    assert value.point.is_locked


def test_an_object_in_two_locked_ones_is_unlocked_by_neither() -> None:
    inner = point(4)
    first = Batch(torch.zeros(4), inner, batch_size=4, lock=True)
    second = Batch(torch.zeros(4), inner, batch_size=4, lock=True)
    with pytest.raises(RuntimeError, match=r"^cannot unlock a Batch: a locked Batch holds its Point; unlock that"):
        first.unlock_()
    assert first.is_locked
    assert second.is_locked


def test_unlocking_the_holder_unlocks_what_was_locked_alone_and_one_that_is_gone_holds_nothing() -> None:
    inner = point(4).lock_()
    assert not Batch(torch.zeros(4), inner, batch_size=4, lock=True).unlock_().point.is_locked
    Batch(torch.zeros(4), inner, batch_size=4, lock=True)
    assert inner.is_locked
    inner.unlock_().weight = torch.zeros(4)


def test_a_with_statement_leaves_things_as_they_were() -> None:
    value = flat(4)
    with value.unlock_(), value.lock_():
        with value.unlock_():
            assert not value.is_locked
        assert value.is_locked
    assert not value.is_locked
    with pytest.raises(ZeroDivisionError), value.lock_():
        raise ZeroDivisionError
    assert not value.is_locked


def test_a_frozen_object_is_locked_for_ever() -> None:
    value = album()
    assert value.is_locked
    assert value.cover.is_locked
    with pytest.raises(FrozenInstanceError, match=r"^cannot unlock a Album: the class is frozen$"):
        value.unlock_()
    with pytest.raises(FrozenInstanceError, match=r"^cannot unlock a Flat: a frozen object holds it; use \.clone\(\)$"):
        value.cover.unlock_()
    assert value.lock_() is value


def test_a_locked_object_can_hold_a_frozen_one() -> None:
    class Shelf(TensorClass):
        album: Album

    shelf = Shelf(album(), batch_size=4).lock_()
    shelf.unlock_().album = album()
    assert shelf.album.is_locked


def test_a_frozen_object_is_not_written_to_through_the_one_that_holds_it() -> None:
    class Shelf(TensorClass):
        album: Album
        x: Tensor

    class Room(TensorClass):
        shelf: Shelf | None = None

    shelf = Shelf(album(), torch.ones(4), batch_size=4)
    before = shelf.album.cover.x.clone()
    with pytest.raises(FrozenInstanceError, match=r"^cannot assign to an item of a Shelf: its Album is frozen$"):
        shelf[0] = shelf[1]
    with pytest.raises(FrozenInstanceError, match=r"a Room: its Album is frozen$"):
        Room(shelf, batch_size=4).zero_()
    assert torch.equal(shelf.album.cover.x, before)
    shelf.album = album()
    assert Room(batch_size=4).zero_().shelf is None


class Kinds(TensorClass):
    """One field of each kind that an operator can change in place."""

    x: Tensor
    weight: float
    inner: Flat
    columns: list[Tensor]
    tags: list[str]
    mask: Tensor | None = None


def kinds(lock: bool) -> Kinds:
    inner = Flat(torch.zeros(4, 3), torch.zeros(4), batch_size=4)
    return Kinds(torch.zeros(4), 1.5, inner, [torch.zeros(4)], ["a"], torch.zeros(4), batch_size=4, lock=lock)


@pytest.mark.parametrize(
    "statement",
    [
        "value.x += 1",
        "value.weight *= 2",
        "value.inner += 1",
        "value.inner.y -= 1",
        "value.mask += 1",
        "value.x = value.x",
        "value.set('x', value.x.add_(1))",
        "value.update(inner={'y': value.inner.y.add_(1)})",
    ],
)
def test_an_operator_in_place_does_with_a_lock_what_it_does_without(statement: str) -> None:
    free, locked = kinds(lock=False), kinds(lock=True)
    before = [id(locked.x), id(locked.inner), id(locked.inner.y)]
    exec(statement, {"value": free})
    exec(statement, {"value": locked})
    assert (free == locked).all()
    assert [id(locked.x), id(locked.inner), id(locked.inner.y)] == before
    assert locked.is_locked


@pytest.mark.parametrize(
    "statement", ["value.columns += value.columns", "value.tags += ['b']", "value.x = value.x + 1"]
)
def test_a_locked_object_refuses_a_list_that_has_grown_and_another_tensor(statement: str) -> None:
    with pytest.raises(RuntimeError, match=r"^cannot assign to Kinds\.\w+: it is locked"):
        exec(statement, {"value": kinds(lock=True)})


def test_the_block_of_a_nested_object_ends_with_the_lock_of_its_owner_and_its_own_lock_outlives_that() -> None:
    owner = batch(4).lock_()
    with owner.point.lock_():
        owner.unlock_()
    assert not owner.point.is_locked
    with owner.lock_():
        owner.point.lock_()
    assert owner.point.is_locked and not owner.is_locked


def test_a_block_leaves_the_lock_of_another_owner() -> None:
    shared = point(4)
    first, second = batch(4), batch(4)
    first.point = second.point = shared
    with first.lock_():
        with second.lock_():
            pass
        assert not second.is_locked
        assert shared.is_locked
    assert not shared.is_locked
