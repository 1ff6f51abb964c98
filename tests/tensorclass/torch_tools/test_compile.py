"""Everything common is traced by torch.compile without a graph break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor

from ..declared import Batch, Flat, Point, batch, flat


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing that was traced before."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def joined(value: Flat) -> Flat:
    functions: Any = torch
    stacked: Flat = functions.stack([value, value * 2])
    return Flat.cat([stacked[0], stacked[1]])


def assigned(value: Flat) -> Flat:
    copied = value.clone()
    copied[0] = value[1]
    copied.x = copied.x + 1
    return copied


STEPS: dict[str, Callable[[Flat], Any]] = {
    "construct": lambda value: Flat(value.x, y=value.y * 2, batch_size=[4], device="cpu"),
    "default": lambda value: Point(value.x.sum()),
    "index": lambda value: [value[0], value[1:3], value[..., None], value[[0, 2]], value[torch.tensor([1, 0])]],
    "assign": assigned,
    "iterate": lambda value: [item.y for item in value],
    "reshape": lambda value: value.reshape(2, -1).permute(1, 0).flatten().unsqueeze(0).expand(3, 4)[0],
    "join": joined,
    "cut": lambda value: [*value.split(3), *value.chunk(2), *value.unbind()],
    "operators": lambda value: (1 - value * value.y) / (value + value) > value.y * value,
    "to": lambda value: value.to("cpu").to(torch.float64).detach().clone(),
    "apply": lambda value: value.apply(torch.square),
    "names": lambda value: value.replace(x=value.get("y")).set("y", value.x[:, 0]),
    "tree": lambda value: pytree.tree_map(torch.neg, value),
    "size": lambda value: value.x * len(value) * value.batch_size[0],
}


@pytest.mark.parametrize("name", STEPS)
def test_an_operation_is_traced_and_gives_the_same(name: str) -> None:
    step, value = STEPS[name], flat(4)
    compiled = torch.compile(step, fullgraph=True, backend="eager")
    expected, spec = pytree.tree_flatten(step(value))
    got, got_spec = pytree.tree_flatten(compiled(value))
    assert got_spec == spec
    assert all(torch.equal(left, right) for left, right in zip(got, expected, strict=True))


def test_nested_objects_are_traced() -> None:
    def step(value: Batch) -> Tensor:
        return Batch.stack([value, value])[0].point.position * value.tokens[:, :2]

    value = batch(4)
    assert torch.equal(torch.compile(step, fullgraph=True, backend="eager")(value), step(value))


def test_another_batch_size_compiles_once_more_and_then_never() -> None:
    graphs: list[object] = []

    def counting(graph: torch.fx.GraphModule, inputs: object) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    step = torch.compile(lambda value: (value + value)[1:].y, fullgraph=True, backend=counting)
    for length in (4, 5, 6, 7):
        step(flat(length))
    assert len(graphs) == 2
