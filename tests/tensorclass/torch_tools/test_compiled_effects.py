"""A compiled function gives what the function gives, and changes the same objects, and lists and dicts that it got from them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, field
from tests.tensorclass.declared import Flat, flat


class Part(TensorClass):
    weight: Tensor


class Whole(TensorClass):
    """Has fields of the kinds whose values can change in place."""

    x: Tensor
    part: Part | None
    named: dict[str, Tensor]
    listed: list[Tensor]
    tags: list[str] = field(default_factory=list)


def whole() -> Whole:
    part = Part(torch.ones(3, 2), batch_size=3)
    return Whole(torch.arange(3.0), part, {"q": torch.ones(3)}, [torch.zeros(3)], ["a"], batch_size=3)


def seen(value: Any) -> Any:
    """Everything that a value holds, as plain Python."""
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, TensorClass):
        state = {name: seen(found) for name, found in value.items()}
        return state, tuple(value.batch_size), value.names, value.is_locked
    if isinstance(value, dict):
        return {name: seen(found) for name, found in value.items()}
    if isinstance(value, (list, tuple)):
        return [seen(found) for found in value]
    return value


def untyped(found: object) -> Any:
    """`found` itself. In compiled code `typing.cast` would give a copy of a list."""
    return found


def from_a_part(read: Callable[[Whole], Any]) -> Callable[[Whole], Any]:
    """Writes into what is read of an object, and returns both."""

    def write(value: Whole) -> Any:
        found = read(value)
        found["new"] = value.x * 2
        return found

    return write


def after(write: Callable[[Whole], object]) -> Callable[[Whole], Any]:
    def function(value: Whole) -> Whole:
        write(value)
        return value

    return function


FUNCTIONS: dict[str, Callable[[Whole], Any]] = {
    "select": lambda value: value.select("x", ("part", "weight")),
    "select of nested fields only": lambda value: value.select(("part", "weight")),
    "exclude": lambda value: value.exclude("x", ("part", "weight")),
    "dict of select": from_a_part(lambda value: value.select(("part", "weight"))["part"]),
    "dict of exclude": from_a_part(lambda value: value.exclude("x")),
    "dict of to_dict": from_a_part(lambda value: value.to_dict()["part"]),
    "dict of items": from_a_part(lambda value: dict(value.items())),
    "dict field": from_a_part(lambda value: value.named),
    "dict field by key": from_a_part(lambda value: value.get("named")),
    "dict field of a copy": from_a_part(lambda value: value.copy().named),
    "dict field of an item": from_a_part(lambda value: value[:2].named),
    "list field": after(lambda value: value.listed.append(value.x)),
    "list field by key": after(lambda value: untyped(value.get("listed")).append(value.x)),
    "static list": after(lambda value: value.tags.append("b")),
    "static list by key": after(lambda value: untyped(value.get("tags")).append("b")),
    "update": after(lambda value: value.update({"x": value.x + 1, "named": {"new": value.x}})),
    "update of a nested object": after(lambda value: value.update({"part": {"weight": torch.zeros(3, 2)}})),
    "update_ by path": after(lambda value: value.update_({("part", "weight"): 3}).update({"part": None})),
    "set by path": after(lambda value: value.set(("part", "weight"), torch.zeros(3, 2))),
    "pop": lambda value: (value.pop("part"), value),
    "items": after(lambda value: [item.x.add_(2) for item in value]),
    "split": after(lambda value: [piece.fill_(4) for piece in value.split(2)]),
    "view": after(lambda value: value.view(3, 1).zero_()),
    "index": after(lambda value: value[1:].__setitem__(0, value[0])),
    "clone": lambda value: (value.clone().fill_(1), value),
    "names": after(lambda value: setattr(value, "names", ["time"])),
}


OF_TWO_TENSORS: dict[str, Callable[[Flat], Any]] = {
    "construct": lambda value: Flat(value.x, value.y, batch_size=4, names=["time"], lock=True),
    "lock": lambda value: value.clone().lock_(),
    "dimension by name": lambda value: value.replace(names=["time"]).unbind("time")[0],
    "set": lambda value: value.clone().set("x", torch.zeros(4)),
    "write": lambda value: value.clone().set_("x", 1).update_({"y": value.y + 1}),
    "copy": lambda value: value.clone().copy_(value * 2),
    "leaves": lambda value: value.items(True, True),
    "metadata": lambda value: value * value.numel(),
    "auto_batch_size_": lambda value: value.replace(batch_size=()).auto_batch_size_(),
    "data": lambda value: value.data,
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_TWO_TENSORS])
def test_a_compiled_function_gives_and_changes_what_the_function_does(name: str) -> None:
    torch._dynamo.reset()
    function: Callable[[Any], Any] = FUNCTIONS.get(name) or OF_TWO_TENSORS[name]
    ours: Any = whole() if name in FUNCTIONS else flat(4)
    compiled = copy.deepcopy(ours)

    expected = function(ours)
    found = torch.compile(function, fullgraph=True, backend="eager")(compiled)

    assert seen(found) == seen(expected)
    assert seen(compiled) == seen(ours)


MASK = torch.tensor([True, False, True])
WRITES: dict[str, Callable[[Whole], Any]] = {
    "as many items": lambda value: value[1:],
    "items that another mask selects": lambda value: value[torch.tensor([False, True, True])],
    "a number": lambda value: 7.0,
    "a tensor for each item": lambda value: torch.tensor([5.0, 6.0]),
    "a tensor for all items": lambda value: torch.tensor([5.0]),
    "a tensor without dimensions": lambda value: torch.tensor(5.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_items_that_a_mask_selects_are_written_in_one_graph(name: str) -> None:
    def write(value: Whole, mask: Tensor) -> Whole:
        written = value.clone()
        written[mask] = WRITES[name](value)
        return written

    compiled = torch.compile(write, fullgraph=True, backend="aot_eager")
    for mask in (MASK, MASK.flip(0), torch.tensor([False, True, True])):
        assert seen(compiled(whole(), mask)) == seen(write(whole(), mask))


@pytest.mark.parametrize("mask", [[True, True, True], [True, False, False], [False, False, False]])
@pytest.mark.parametrize("written", [lambda value: value[1:], lambda value: torch.tensor([5.0, 6.0])])
def test_a_graph_refuses_other_numbers_of_items_than_a_mask_selects(
    mask: list[bool], written: Callable[[Whole], Any]
) -> None:
    def write(value: Whole, mask: Tensor) -> Whole:
        value[mask] = written(value)
        return value

    compiled = torch.compile(write, fullgraph=True, backend="aot_eager")
    compiled(whole(), MASK)
    with pytest.raises((RuntimeError, AssertionError)):
        compiled(whole(), torch.tensor(mask))
