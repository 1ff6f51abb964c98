"""A step with objects is traced in one graph, gives what it gives without `torch.compile`, and changes the same objects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from qten_gen import TensorClass, Unbatched, field
from tests.tensorclass.declared import Batch, Flat, Point, batch, flat


class Fixed(TensorClass, frozen=True):
    """A frozen class."""

    x: Tensor
    scale: float = 2.0


class Coded(TensorClass):
    """A tensor that the batch does not carry."""

    x: Tensor
    table: Unbatched[Tensor]


class Labelled(Flat):
    """A derived class with a method of its own."""

    label: str = "a"

    def doubled(self) -> Labelled:
        return self.replace(x=self.x * 2)


def again(function: Callable[..., Any], *args: object, **options: Any) -> Any:
    """The result of a function, whose intermediate tensors the backward pass computes again."""
    return checkpoint(function, *args, use_reentrant=False, **options)


functions: Any = torch
"""The functions of torch, whose types know tensors only."""

CHECKPOINTED: dict[str, Callable[[Flat, Tensor], Any]] = {
    "by position": lambda value, weight: again(lambda one, by: functions.sin(one * by).x, value, weight),
    "by keyword": lambda value, weight: again(lambda by, x: functions.sin(x * by).x, weight, x=value),
    "in a dict": lambda value, weight: again(lambda one, by: functions.sin(one["z"] * by).x, {"z": value}, weight),
    "in a closure": lambda value, weight: again(lambda by: functions.sin(value * by).x, weight),
    "as the result": lambda value, weight: again(lambda one, by: (one[1:] * by, 3), value, weight)[0].x,
    "with options": lambda value, weight: again(
        lambda one, by: functions.sin(one * by).x, value, weight, preserve_rng_state=False
    ),
}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing that was traced before."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def made(value: Batch) -> Batch:
    inner = Point(value.point.position * 2, weight=value.point.weight, batch_size=value.batch_size)
    return Batch(value.tokens, inner, mask=None, source=value.source + "!", batch_size=value.batch_size)


def assigned(value: Batch) -> Batch:
    copied = value.clone()
    copied.point.weight = copied.point.weight + 1
    copied[0] = value[1]
    copied.mask = None
    return copied


def with_optional(value: Batch) -> Tensor:
    if value.mask is None:
        return value.tokens
    return value.tokens * value.mask[..., None]


STEPS: dict[str, Callable[[Batch], Any]] = {
    "construct nested, optional and static": made,
    "assign to nested and optional fields": assigned,
    "ask whether a field is None": with_optional,
    "index with bools": lambda value: [value[True], value[False], value[0, True], value[..., True]],
    "torch functions": lambda value: functions.cat([functions.stack([value, value], 1)[:, 0], value]),
    "dictionaries": lambda value: Point.from_dict(value.point.to_dict(), batch_size=value.batch_size),
    "reading by key": lambda value: [value.get(("point", "weight")), value.get("tokens"), value.get("mask", None)],
    "replace": lambda value: value.replace(source="new", mask=None),
    "apply": lambda value: value.apply(lambda tensor: tensor.sum(0), batch_size=()),
    "construct with a default": lambda value: Point(value.point.weight.sum()),
    "sizes": lambda value: value.tokens * len(value) * value.batch_size[0],
    "trees": lambda value: pytree.tree_map(lambda tensor: tensor * 2, value),
}


def test_classes_of_every_flag_and_derived_ones_are_traced() -> None:
    def step(fixed: Fixed, coded: Coded, labelled: Labelled) -> Any:
        return (
            Fixed(fixed.x * fixed.scale, batch_size=fixed.batch_size),
            coded[1:].table[coded.x],
            labelled.doubled()[0],
        )

    objects = (
        Fixed(torch.rand(3), batch_size=3),
        Coded(torch.tensor([2, 0]), torch.rand(5), batch_size=2),
        Labelled(torch.rand(4), torch.rand(4), label="b", batch_size=4),
    )
    assert seen(torch.compile(step, fullgraph=True, backend="eager")(*objects)) == seen(step(*objects))


def graphs_of(step: Callable[[Batch], Any], *values: Batch) -> int:
    """How many graphs the calls take."""
    graphs: list[object] = []

    def counting(graph: torch.fx.GraphModule, inputs: object) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(step, fullgraph=True, backend=counting)
    for value in values:
        assert seen(compiled(value)) == seen(step(value))
    return len(graphs)


def test_another_static_value_that_is_used_gives_another_graph() -> None:
    values = [batch(4).replace(source=source) for source in ("a", "bb", "a")]
    assert graphs_of(lambda value: value.tokens * len(value.source), *values) == 2


def test_another_static_value_that_is_not_used_gives_no_other_graph() -> None:
    values = [batch(4).replace(source=source) for source in ("a", "bb", "ccc")]
    assert graphs_of(lambda value: value.tokens * 2, *values) == 1


@pytest.mark.parametrize("step", CHECKPOINTED.values(), ids=CHECKPOINTED.keys())
def test_activation_checkpointing_takes_objects(step: Callable[[Flat, Tensor], Any]) -> None:
    value, weight = flat(4), torch.rand((), requires_grad=True)
    gradients = []
    for run in (step, torch.compile(step, backend="aot_eager", fullgraph=True)):
        (gradient,) = torch.autograd.grad(run(value, weight).sum(), weight)
        gradients.append(gradient)
    assert gradients[0].item() == gradients[1].item() != 0


def test_a_nested_compile_region_takes_objects() -> None:
    region: Any = torch.compiler.nested_compile_region(lambda value: value * 2)
    value = flat(4)
    compiled = torch.compile(lambda value: region(value) + region(value), fullgraph=True, backend="eager")
    assert torch.equal(compiled(value).x, value.x * 4)


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


CALLS: list[tuple[Callable[[], Any], str, Callable[[Any], Any]]] = [
    *((lambda: batch(4), name, step) for name, step in STEPS.items()),
    *((whole, name, function) for name, function in FUNCTIONS.items()),
    *((lambda: flat(4), name, function) for name, function in OF_TWO_TENSORS.items()),
]


@pytest.mark.parametrize(("make", "function"), [(make, call) for make, _, call in CALLS], ids=[row[1] for row in CALLS])
def test_a_compiled_function_gives_and_changes_what_the_function_does(
    make: Callable[[], Any], function: Callable[[Any], Any]
) -> None:
    ours = make()
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
