"""Handlers: registration, resolution, and `module(x)` running them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Functional, Module, param


@dataclass
class Circle:
    radius: float


class Area(Functional):
    pass


@Area.register(Circle)
def _(area: Area, circle: Circle, *, unit: float = 1.0) -> float:
    return 3 * circle.radius**2 * unit


@Area.register(int)
def _(area: Area, side: int) -> int:
    return side**2


@dataclass
class Batch:
    rows: Tensor


class Linear(Module):
    size: int
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return x * self.weight * scale


def linear_class() -> type[Linear]:
    """A new class each time, so that the registrations of one test are not seen in another."""

    class OneTest(Linear):
        def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
            return x * self.weight * scale

    return OneTest


def call(module: Module, obj: object, **keywords: Any) -> Any:
    """`module(obj)`. Without a generated stub the call is typed as forward's alone."""
    return module(obj, **keywords)


def test_a_handler_for_several_types_is_registered_for_all_of_them_or_none() -> None:
    class Several(Functional):
        pass

    Several.register(int)(lambda several, number: 1)
    with pytest.raises(ValueError, match="Several has a handler for int already"):
        Several.register(str | int)(lambda several, value: 2)
    Several.register(float)(lambda several, number: 3)

    assert Several.get_applicable_types() == (int, float)


def test_a_module_without_registrations_keeps_its_forward() -> None:
    linear = linear_class()
    own = vars(linear)["forward"]
    linear_class().register(Batch)(lambda module, batch: None)
    assert vars(linear)["forward"] is own


def test_a_module_may_have_handlers_only() -> None:
    class Loss(Module):
        factor: float

    @Loss.register(Batch)
    def _(loss: Loss, batch: Batch) -> Tensor:
        return batch.rows.sum() * loss.factor

    assert call(Loss(2.0), Batch(torch.ones(2))) == 4
    with pytest.raises(
        NotImplementedError, match="Loss has no handler for Tensor, only for Loss: Batch, and it has no forward"
    ):
        call(Loss(2.0), torch.ones(2))


def test_dispatching_calls_compile_to_one_graph() -> None:
    linear = linear_class()

    @linear.register(Batch)
    def _(module: Linear, batch: Batch) -> Tensor:
        return module(batch.rows, scale=3.0)

    module = linear(2)
    compiled = torch.compile(cast(nn.Module, module), fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.ones(2)), torch.ones(2))
    assert torch.equal(compiled(Batch(torch.ones(2))), torch.full((2,), 3.0))


@pytest.mark.parametrize(
    "given", [[1.0], (1.0,), {"a": 1.0}, 3, True, 2.5, "text", None, {1}, range(2), slice(1), 1j, b"x"]
)
def test_compiled_code_finds_the_handlers_for_builtin_types(given: object) -> None:
    class Named(Module):
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)

        def forward(self, x: object, y: Tensor) -> Tensor:
            return y * self.weight * 10

    for number, builtin in enumerate((object, int, bool, list, tuple, dict, str, float, complex)):

        @Named.register(builtin)
        def handle(named: Named, x: object, y: Tensor, number: int = number) -> Tensor:
            return y * named.weight + number

    module: Any = Named()
    torch.compiler.reset()
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    assert torch.equal(compiled(given, torch.ones(2)), module(given, torch.ones(2)))  # type: ignore[no-untyped-call] # torch gives it no types


@pytest.mark.parametrize("given", [torch.zeros(1), nn.Parameter(torch.zeros(1)), nn.Buffer(torch.zeros(1))])
def test_compiled_code_finds_the_handlers_for_parameters_and_buffers(given: Tensor) -> None:
    class Named(Functional): ...

    Named.register(Tensor)(lambda named, x: x + 1)
    Named.register(nn.Parameter)(lambda named, x: x + 2)
    Named.register(nn.Buffer)(lambda named, x: x + 3)
    torch.compiler.reset()
    compiled = torch.compile(lambda x: Named()(x), fullgraph=True, backend="eager")
    assert torch.equal(compiled(given), Named()(given))


def test_compiled_code_sees_late_registrations_and_is_traced_once() -> None:
    linear = linear_class()
    linear.register(Batch)(lambda module, batch: batch.rows)
    module, graphs = linear(2), []

    def backend(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(cast(nn.Module, module), fullgraph=True, backend=backend)
    compiled(torch.ones(2))
    module.allows(1)
    assert torch.equal(compiled(torch.ones(2)), torch.ones(2))
    assert len(graphs) == 1
    linear.register(Tensor)(lambda module, rows: rows * 5)
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 5.0))


def test_the_class_made_by_a_tool_dispatches() -> None:
    linear = linear_class()
    linear.register(Batch)(lambda module, batch: "handled")
    module = linear(2)
    module.__class__ = type("Sharded", (linear,), {})
    assert call(module, Batch(torch.ones(2))) == "handled"
