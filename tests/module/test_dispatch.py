"""Handlers: registration, resolution, and `module(x)` running them."""

from __future__ import annotations

import inspect
import threading
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


class Ball(Circle):
    pass


class Area(Functional):
    pass


class Doubled(Area):
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


def test_a_functional_runs_the_handler_for_the_type() -> None:
    assert Area()(Circle(2)) == 12
    assert Area()(5) == 25


def test_keyword_arguments_are_passed_on() -> None:
    assert Area().invoke(Circle(2), unit=0.5) == 6


def test_a_subclass_of_the_object_type_is_handled() -> None:
    assert Area()(Ball(1)) == 3
    assert Area()(True) == 1


def test_a_subclass_of_the_functional_inherits_handlers() -> None:
    assert Doubled()(5) == 25


def test_the_more_specific_functional_wins() -> None:
    class Mine(Area):
        pass

    @Mine.register(Circle)
    def _(mine: Mine, circle: Circle) -> float:
        return -1.0

    assert Mine()(Circle(1)) == -1
    assert Area()(Circle(1)) == 3


def test_the_more_specific_object_type_wins() -> None:
    class Mine(Area):
        pass

    @Mine.register(Circle)
    def _(mine: Mine, circle: Circle) -> str:
        return "circle"

    @Mine.register(Ball)
    def _(mine: Mine, ball: Ball) -> str:
        return "ball"

    assert Mine()(Ball(1)) == "ball"


def test_the_object_decides_before_the_functional() -> None:
    class Base(Functional):
        pass

    class Special(Base):
        pass

    @Base.register(Ball)
    def _(base: Base, ball: Ball) -> str:
        return "the object's"

    @Special.register(Circle)
    def _(special: Special, circle: Circle) -> str:
        return "the functional's"

    assert (Special()(Ball(1)), Special()(Circle(1))) == ("the object's", "the functional's")

    @Special.register(Ball)
    def _(special: Special, ball: Ball) -> str:
        return "decided"

    assert Special()(Ball(1)) == "decided"


def test_applicable_types_are_those_of_the_class_itself() -> None:
    assert Area.get_applicable_types() == (Circle, int)
    assert Doubled.get_applicable_types() == ()


def test_allows_searches_like_a_call() -> None:
    assert Doubled().allows(Ball(1))
    assert not Doubled().allows("text")


def test_a_missing_handler_names_both_types_and_what_there_is() -> None:
    with pytest.raises(NotImplementedError) as error:
        Doubled()("text")
    assert str(error.value) == "Doubled has no handler for str, only for Area: Circle, Area: int"


def test_late_registrations_are_seen() -> None:
    class Late(Functional):
        pass

    assert not Late().allows(1)

    @Late.register(int)
    def _(late: Late, number: int) -> int:
        return number

    assert Late()(7) == 7


def test_a_second_handler_for_the_pair_is_refused_with_both_places() -> None:
    class Once(Functional):
        pass

    @Once.register(int)
    def _(once: Once, number: int) -> int:
        return 1

    message = r"Once has a handler for int already: at .*:\d+; the second one is at .*:\d+; pass replace=True"
    with pytest.raises(ValueError, match=message):

        @Once.register(int)
        def _(once: Once, number: int) -> int:
            return 2

    assert Once()(0) == 1


def test_registering_while_other_threads_call_loses_nothing() -> None:
    class Busy(Functional):
        pass

    types = [type(f"T{i}", (), {}) for i in range(40)]
    wrong: list[object] = []
    done = threading.Event()

    def call() -> None:
        busy = Busy()
        while not done.is_set():
            for t in types:
                busy.allows(t())

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for number, t in enumerate(types):
        Busy.register(t)(lambda busy, obj, number=number: number)
        if not Busy().allows(t()):
            wrong.append(t)
    done.set()
    for caller in callers:
        caller.join()
    assert not wrong
    assert [Busy()(t()) for t in types] == list(range(40))


def test_a_module_without_registrations_keeps_its_forward() -> None:
    linear = linear_class()
    own = vars(linear)["forward"]
    linear_class().register(Batch)(lambda module, batch: None)
    assert vars(linear)["forward"] is own


def test_a_module_runs_the_handler_or_else_forward() -> None:
    linear = linear_class()

    @linear.register(Batch)
    def _(module: Linear, batch: Batch, *, scale: float = 1.0) -> Tensor:
        return module(batch.rows, scale=2 * scale)

    module = linear(2)
    assert torch.equal(call(module, torch.ones(2)), torch.ones(2))
    assert torch.equal(call(module, Batch(torch.ones(2))), torch.full((2,), 2.0))
    assert torch.equal(call(module, Batch(torch.ones(2)), scale=2.0), torch.full((2,), 4.0))


def test_hooks_run_around_a_handler() -> None:
    def add_one(module: nn.Module, args: object, out: Tensor) -> Tensor:
        return out + 1

    linear = linear_class()
    linear.register(Batch)(lambda module, batch: batch.rows)
    module, seen = linear(2), []
    module.register_forward_pre_hook(lambda module, args: seen.append(type(args[0])))
    module.register_forward_hook(add_one)
    assert torch.equal(call(module, Batch(torch.ones(2))), torch.full((2,), 2.0))
    assert seen == [Batch]


def test_forward_keeps_its_signature() -> None:
    linear = linear_class()
    linear.register(Batch)(lambda module, batch: None)
    assert list(inspect.signature(linear.forward).parameters) == ["self", "x", "scale"]
    assert list(inspect.signature(linear(2).forward).parameters) == ["x", "scale"]


def test_a_subclass_with_its_own_forward_dispatches_whenever_it_was_made() -> None:
    linear = linear_class()

    class Before(linear):  # type: ignore[misc, valid-type] # the class is made by a function
        def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
            return -linear.forward(self, x, scale)

    linear.register(Batch)(lambda module, batch: "handled")

    class After(linear):  # type: ignore[misc, valid-type] # the class is made by a function
        def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
            return -linear.forward(self, x, scale)

    for cls in (Before, After):
        assert call(cls(2), Batch(torch.ones(2))) == "handled"
        assert torch.equal(call(cls(2), torch.ones(2)), -torch.ones(2))


def test_a_mixin_with_a_forward_of_its_own_does_not_hide_handlers() -> None:
    linear = linear_class()
    linear.register(Batch)(lambda module, batch: "handled")

    class Negated:
        def forward(self, x: Tensor) -> Tensor:
            return -x

    class Mixed(Negated, linear):  # type: ignore[misc, valid-type] # the class is made by a function
        pass

    assert call(Mixed(2), Batch(torch.ones(2))) == "handled"
    assert torch.equal(call(Mixed(2), torch.ones(2)), -torch.ones(2))


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
