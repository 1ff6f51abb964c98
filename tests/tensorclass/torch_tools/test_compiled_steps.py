"""What a training step does with objects is traced in one graph, and gives what it gives without `torch.compile`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn
from torch._dynamo.exc import Unsupported
from torch.utils.checkpoint import checkpoint

from qten_gen import TensorClass, Unbatched
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


CHECKPOINTED: dict[str, Callable[[Flat, Tensor], Any]] = {
    "by position": lambda value, weight: again(lambda one, by: (one * by).sin().x, value, weight),
    "by keyword": lambda value, weight: again(lambda by, x: (x * by).sin().x, weight, x=value),
    "in a dict": lambda value, weight: again(lambda one, by: (one["z"] * by).sin().x, {"z": value}, weight),
    "in a closure": lambda value, weight: again(lambda by: (value * by).sin().x, weight),
    "as the result": lambda value, weight: again(lambda one, by: (one[1:] * by, 3), value, weight)[0].x,
    "with options": lambda value, weight: again(
        lambda one, by: (one * by).sin().x, value, weight, preserve_rng_state=False
    ),
}


class Net(nn.Module):
    """Takes an object and returns one."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, value: Flat) -> Flat:
        return value.replace(x=self.linear(value.x))


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


functions: Any = torch

STEPS: dict[str, Callable[[Batch], Any]] = {
    "construct nested, optional and static": made,
    "assign to nested and optional fields": assigned,
    "ask whether a field is None": with_optional,
    "index": lambda value: [value[0], value[1:, None], value[torch.tensor([1, 0])], value[value.mask]],
    "index with bools": lambda value: [value[True], value[False], value[0, True], value[..., True]],
    "stack and cat": lambda value: Batch.cat([*Batch.stack([value, value]), value]),
    "torch functions": lambda value: functions.cat([functions.stack([value, value], 1)[:, 0], value]),
    "split, chunk and unbind": lambda value: [*value.split([1, 3]), *value.chunk(3), *value.unbind()],
    "move and cast": lambda value: value.to("cpu").to(torch.bfloat16).detach().contiguous(),
    "arithmetic with objects, numbers and tensors": lambda value: (value + value) * 2 - value.point.weight,
    "comparison": lambda value: (value > 1) & (value <= 50),
    "shapes": lambda value: value.reshape(2, 2).permute(1, 0).flatten().unsqueeze(-1).squeeze(-1).expand(3, 4),
    "dictionaries": lambda value: Point.from_dict(value.point.to_dict(), batch_size=value.batch_size),
    "reading by key": lambda value: [value.get(("point", "weight")), value.get("tokens"), value.get("mask", None)],
    "replace": lambda value: value.replace(source="new", mask=None),
    "apply": lambda value: value.apply(lambda tensor: tensor.sum(0), batch_size=()),
    "construct with a default": lambda value: Point(value.point.weight.sum()),
    "sizes": lambda value: value.tokens * len(value) * value.batch_size[0],
    "trees": lambda value: pytree.tree_map(lambda tensor: tensor * 2, value),
}


def assert_alike(got: Any, expected: Any) -> None:
    """Two trees of objects and tensors with equal tensors, batch sizes and static values."""
    leaves, spec = pytree.tree_flatten(expected)
    found, found_spec = pytree.tree_flatten(got)
    assert found_spec == spec
    for left, right in zip(found, leaves, strict=True):
        torch.testing.assert_close(left, right)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_graph(name: str) -> None:
    step, value = STEPS[name], batch(4)
    assert_alike(torch.compile(step, fullgraph=True, backend="eager")(value), step(value))


@pytest.mark.parametrize(
    "name", "add sub mul truediv floordiv mod pow lt le gt ge eq ne and_ or_ xor lshift rshift".split()
)
def test_an_operator_between_an_object_and_a_tensor_is_traced_in_both_orders(name: str) -> None:
    function: Callable[[Any, Any], Any] = getattr(operator, name)
    value = Flat(torch.tensor([[5, 3], [2, 9]]), torch.tensor([1, 2]), batch_size=2)

    def step(value: Flat) -> Any:
        return function(value, value.y), function(value.y, value), function(value, value)

    assert_alike(torch.compile(step, fullgraph=True, backend="eager")(value), step(value))


def test_methods_that_write_in_place_do_so_in_a_graph_too() -> None:
    def step(value: Flat) -> Flat:
        value += value.y
        value += 1
        value *= 2
        return value

    value = Flat(torch.zeros(2, 3), torch.ones(2), batch_size=2)
    x = value.x
    made = torch.compile(step, fullgraph=True, backend="eager")(value)
    assert made is value
    assert value.x is x
    assert torch.equal(x, torch.full((2, 3), 4.0))


def test_objects_without_some_fields_are_traced() -> None:
    value = batch(4, full=False)
    for step in (made, assigned, with_optional, lambda value: Batch.stack([value, value])[0]):
        compiled: Callable[[Batch], Any] = torch.compile(step, fullgraph=True, backend="eager")
        assert_alike(compiled(value), step(value))


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
    assert_alike(torch.compile(step, fullgraph=True, backend="eager")(*objects), step(*objects))


def test_a_module_and_its_gradients_are_compiled() -> None:
    torch.manual_seed(0)
    module, value = Net(), flat(4)
    compiled: Callable[[Flat], Flat] = torch.compile(module, fullgraph=True, backend="aot_eager")
    out = compiled(value)
    assert_alike(out, module(value))
    out.x.square().sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    assert module.linear.weight.grad is not None
    expected = torch.autograd.grad(module(value).x.square().sum(), module.linear.weight)[0]
    torch.testing.assert_close(module.linear.weight.grad, expected)


def test_transforms_are_compiled_too() -> None:
    def step(value: Flat) -> Any:
        gradient = torch.func.grad(lambda item: (item.x.square().sum(-1) * item.y).sum())(value)
        return gradient, torch.vmap(lambda item: item * item.y)(value)

    value = flat(4)
    assert_alike(torch.compile(step, fullgraph=True, backend="eager")(value), step(value))


class Loaded(TensorClass):
    """Holds tensors that the batch does not carry, one and several."""

    x: Tensor
    table: Unbatched[Tensor]
    tables: Unbatched[dict[str, Tensor]]


def test_vmap_is_compiled_over_what_the_batch_carries() -> None:
    def step(value: Loaded) -> Any:
        dims: Any = value.vmap_dims()
        return torch.vmap(lambda item: (item.x * item.table).sum(), (dims,))(value)

    value = Loaded(torch.rand(4, 3), torch.rand(3), {}, batch_size=4)
    assert_alike(torch.compile(step, fullgraph=True, backend="eager")(value), step(value))


def graphs_of(step: Callable[[Batch], Any], *values: Batch) -> int:
    """How many graphs the calls take."""
    graphs: list[object] = []

    def counting(graph: torch.fx.GraphModule, inputs: object) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(step, fullgraph=True, backend=counting)
    for value in values:
        assert_alike(compiled(value), step(value))
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


def test_activation_checkpointing_refuses_a_function_that_assigns_to_an_object() -> None:
    def step(value: Flat, weight: Tensor) -> Tensor:
        def assign(one: Flat) -> Tensor:
            one.x = one.x * weight
            return one.x.sum()

        result: Tensor = again(assign, value)
        return result

    with pytest.raises(Unsupported, match="side effect"):
        torch.compile(step, backend="eager", fullgraph=True)(flat(4), torch.rand((), requires_grad=True))


def test_a_nested_compile_region_takes_objects() -> None:
    region: Any = torch.compiler.nested_compile_region(lambda value: value * 2)
    value = flat(4)
    compiled = torch.compile(lambda value: region(value) + region(value), fullgraph=True, backend="eager")
    assert torch.equal(compiled(value).x, value.x * 4)
