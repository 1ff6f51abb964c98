"""Modules with handlers: registration, forwards of every kind, compiled code, threads, memory."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


@pytest.mark.parametrize("given", [torch.zeros(1), nn.Parameter(torch.zeros(1))])
def test_compiled_code_finds_the_handlers_for_parameters(given: Tensor) -> None:
    class Named(Functional): ...

    Named.register(Tensor)(lambda named, x: x + 1)
    Named.register(nn.Parameter)(lambda named, x: x + 2)
    torch.compiler.reset()
    compiled = torch.compile(lambda x: Named()(x), fullgraph=True, backend="eager")
    assert torch.equal(compiled(given), Named()(given))


def test_the_class_made_by_a_tool_dispatches() -> None:
    linear = linear_class()
    linear.register(Batch)(lambda module, batch: "handled")
    module = linear(2)
    module.__class__ = type("Sharded", (linear,), {})
    assert call(module, Batch(torch.ones(2))) == "handled"


def test_a_forward_that_is_no_method_is_refused_where_there_are_handlers() -> None:
    class Static(Module):
        @staticmethod
        def forward(x: Any) -> Any:
            return x

    with pytest.raises(TypeError, match=r"Static\.forward is a staticmethod, .*; write it as a method"):
        Static.register(str)(lambda module, text: text)


class Scaled(Module):
    size: int
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


@Scaled.register(Mapping)
def _(scaled: Scaled, batch: Mapping[str, Tensor]) -> Tensor:
    return scaled(batch["x"]) + 1


def test_compiled_code_follows_abstract_classes_and_later_registrations() -> None:
    class Table(dict[str, Tensor]):
        pass

    class Late(Scaled):
        pass

    compiled: Any = torch.compile(Late(2), fullgraph=True, backend="eager")
    table = Table(x=torch.ones(2))
    assert torch.equal(compiled(table), torch.full((2,), 2.0))
    Late.register(Table)(lambda module, table: table["x"] * 7)
    assert torch.equal(compiled(table), torch.full((2,), 7.0))
    Late.register(Table, replace=True)(lambda module, table: table["x"] * 9)
    assert torch.equal(compiled(table), torch.full((2,), 9.0))


class Name(Functional):
    pass


Name.register(object)(lambda name, obj: None)


class Numbers(Module):
    def forward(self, x: object) -> object:
        return None


Numbers.register(int)(lambda linear, number: number)


def test_a_functional_class_is_released_with_its_handlers() -> None:
    def use() -> weakref.ref[type]:
        class Local(Name):
            pass

        Local.register(str)(lambda local, text: text)
        Local()(2.5)
        return weakref.ref(Local)

    local = use()
    gc.collect()
    assert local() is None


def test_a_thousand_classes_are_remembered_and_all_are_handled() -> None:
    class Many(Functional):
        pass

    Many.register(int)(lambda many, number: int(number))
    many = Many()
    assert [many(type("Number", (int,), {})(at)) for at in range(1100)] == [*range(1100)]
    assert len(Many._resolved) < 1100


def test_modules_are_called_while_handlers_are_registered() -> None:
    class Busy(Numbers):
        pass

    types = [type(f"T{number}", (), {}) for number in range(30)]
    heirs = [type(f"Heir{number}", (cls,), {}) for number, cls in enumerate(types)]
    expected, wrong, done = dict.fromkeys(heirs, -1), list[object](), threading.Event()

    def calls() -> None:
        busy = Busy()
        while not done.is_set():
            for cls in heirs:
                least, given = expected[cls], call(busy, cls())
                if least != -1 and given != least:
                    wrong.append((cls, given))

    callers = [threading.Thread(target=calls) for _ in range(3)]
    for caller in callers:
        caller.start()
    for number, cls in enumerate(types):
        Busy.register(cls)(lambda busy, obj, number=number: number)
        expected[heirs[number]] = number
    done.set()
    for caller in callers:
        caller.join()
    assert not wrong
    assert [call(Busy(), cls()) for cls in heirs] == list(range(30))


def test_a_class_that_is_made_while_its_parent_gets_handlers_has_them() -> None:
    class Parent(Functional):
        pass

    types = [type(f"T{number}", (), {}) for number in range(40)]
    made: list[type[Functional]] = []
    start = threading.Barrier(2)

    def derive() -> None:
        start.wait()
        for _ in range(40):
            made.append(type("Heir", (Parent,), {}))

    deriving = threading.Thread(target=derive)
    deriving.start()
    start.wait()
    for cls in types:
        Parent.register(cls)(lambda parent, obj: True)
    deriving.join()
    assert all(heir().allows(cls()) for heir in made for cls in types)
