"""Classes that no class statement makes: `types.new_class`, `type()`, copies, and bases of other kinds."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, param


class Batch(TensorClass):
    """A declaration that the others derive from."""

    x: Tensor


class Net(Module):
    """A declaration that the others derive from."""

    width: int = 2
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)


class Sized(typing.Protocol):
    """A protocol with a method and an attribute."""

    x: Tensor

    def measure(self) -> int: ...


ANNOTATED: dict[str, Any] = {"__annotations__": {"y": Tensor}}
CALLS: dict[str, Callable[..., Any]] = {
    "new_class": lambda base, **flags: types.new_class("Made", (base,), flags, lambda names: names.update(ANNOTATED)),
    "type": lambda base, **flags: type(base)("Made", (base,), dict(ANNOTATED), **flags),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_takes_flags(call: str) -> None:
    made: Any = CALLS[call](TensorClass, frozen=True)(torch.ones(2))
    with pytest.raises(AttributeError, match="frozen"):
        made.y = torch.ones(2)


@pytest.mark.parametrize("cls", [Batch, Net])
def test_a_class_can_be_copied_by_its_dict(cls: Any) -> None:
    copied = type(cls)(cls.__name__, cls.__bases__, dict(vars(cls)))
    made = copied(torch.ones(2), batch_size=2)[0] if cls is Batch else copied(3)
    assert type(made) is copied and copied is not cls


def test_a_call_cannot_be_generated_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    message = "nothing is generated for Made, which is made by a call.* Write a class statement at the top level"
    with pytest.raises(ImportError, match=message):
        CALLS["type"](TensorClass)


@pytest.mark.parametrize("first", [True, False])
def test_a_protocol_may_be_a_base(first: bool) -> None:
    measure = {"measure": lambda self: 7}

    def derived(base: type, annotations: dict[str, object]) -> Any:
        bases = (Sized, base) if first else (base, Sized)
        return types.new_class("Made", bases, {}, lambda names: names.update(measure, __annotations__=annotations))

    batch = derived(TensorClass, {"x": Tensor})(torch.ones(2), batch_size=2)
    assert (batch[0].measure(), batch[0].x.shape) == (7, ())
    net = derived(Module, {"depth": int})
    assert (net(3).measure(), net(depth=3).depth) == (7, 3)


def test_a_declaration_is_not_a_protocol() -> None:
    with pytest.raises(TypeError, match="Protocols can only inherit from other protocols"):
        types.new_class("Made", (TensorClass, typing.Protocol), {}, lambda names: names.update(ANNOTATED))


def test_dataclass_is_refused() -> None:
    before = getattr(Batch, "__dataclass_params__")  # noqa: B009 # checkers do not know it
    for decorated in (Batch, Net):
        with pytest.raises(TypeError, match=r"@dataclass would replace the constructor of \w+, .*remove it"):
            dataclasses.dataclass(decorated)
    assert getattr(Batch, "__dataclass_params__") is before  # noqa: B009 # checkers do not know it


def test_deriving_twice_calls_hooks_of_mixins_once() -> None:
    seen: list[str] = []

    class Registered:
        def __init_subclass__(cls) -> None:
            seen.append(cls.__name__)

    class Left(Registered, TensorClass, open=True):
        a: Tensor

    class Right(Registered, TensorClass):
        b: Tensor

    class Both(Left, Right):
        c: Tensor

    assert seen == ["Left", "Right", "Both"]
