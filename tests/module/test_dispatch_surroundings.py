"""Modules with handlers in what PyTorch and Python do to modules: forwards of every kind, copies, threads, memory."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Functional, Module, param


class Static(Module):
    @staticmethod
    def forward(x: Any, scale: int = 1) -> Any:
        return x * scale


class OfClass(Module):
    @classmethod
    def forward(cls, x: Any, scale: int = 1) -> Any:
        return x * scale


class Partial(Module):
    # A partial becomes a method in a later Python, of which 3.13 warns.
    forward = staticmethod(functools.partial(lambda sign, x, scale=1: sign * x * scale, 1))


class PartialMethod(Module):
    def _signed(self, sign: int, x: Any, scale: int = 1) -> Any:
        return sign * x * scale

    forward = functools.partialmethod(_signed, 1)  # pyright: ignore[reportAssignmentType] # it is callable once it is bound


class Property(Module):
    @property
    def forward(self) -> Callable[..., Any]:  # type: ignore[override] # nn.Module's could be assigned
        return lambda x, scale=1: x * scale


KINDS = [Static, OfClass, Partial, PartialMethod, Property]


@pytest.mark.filterwarnings("ignore:functools.partial will be a method descriptor:FutureWarning")  # of Python 3.13
@pytest.mark.parametrize("kind", KINDS)
def test_a_forward_of_any_kind_runs_where_there_is_no_handler(kind: type[Module]) -> None:
    class Dispatching(kind):  # type: ignore[misc, valid-type] # known at run time only
        pass

    class Own(Module):
        forward = vars(kind)["forward"]
        _signed = vars(kind).get("_signed")

    for cls in (Dispatching, Own):
        cls.register(str)(lambda module, text, scale=1: f"{text} {scale}")
        made: Any = cls()
        for call in (made, made.forward, functools.partial(nn.Module.__call__, made)):
            assert (call(2), call(2, 3), call(2, scale=3), call("a"), call("a", scale=3)) == (2, 6, 6, "a 1", "a 3")
        with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
            made(2, size=3)


class Scaled(Module):
    size: int
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


@Scaled.register(Mapping)
def _(scaled: Scaled, batch: Mapping[str, Tensor]) -> Tensor:
    return scaled(batch["x"]) + 1


def call(module: object, given: object) -> Any:
    """Call a module on what only its stub would say that it takes."""
    untyped: Any = module
    return untyped(given)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_a_copy_dispatches(copied: Callable[[Scaled], Scaled]) -> None:
    assert torch.equal(call(copied(Scaled(2)), {"x": torch.ones(2)}), torch.full((2,), 2.0))


def test_functional_call_reaches_the_handler_with_its_tensors() -> None:
    given = {"weight": torch.full((2,), 3.0)}
    made = torch.func.functional_call(Scaled(2), given, ({"x": torch.ones(2)},))
    assert torch.equal(made, torch.full((2,), 4.0))


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


class PlainScaled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 1


def test_a_profiler_sees_what_it_sees_of_a_plain_module_in_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    old: Any = nn.Module._call_impl
    seen: list[int] = []

    def noting(self: nn.Module, *given: object, **keywords: object) -> object:
        seen.append(1)
        return old(self, *given, **keywords)

    class Outer(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Tensor) -> Tensor:
            return call(self.inner, x) * 2  # type: ignore[no-any-return] # it is a tensor

    monkeypatch.setattr(nn.Module, "_call_impl", noting)
    counts = []
    for inner in (Scaled(2), PlainScaled()):
        compiled = torch.compile(Outer(inner), backend="eager")
        assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))
        counts.append(len(seen))
        seen.clear()
    assert counts[0] == counts[1]


class Name(Functional):
    pass


Name.register(object)(lambda name, obj: None)


class Linear(Module):
    def forward(self, x: object) -> object:
        return None


Linear.register(int)(lambda linear, number: number)


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
    class Busy(Linear):
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
