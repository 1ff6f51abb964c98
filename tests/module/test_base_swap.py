"""Plain modules whose base was changed to Module, and nothing else: one test for each shape of constructor.

Each shape is a function that makes the class with a base. With nn.Module and with Module it has to be the same module.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from qten_gen import Device, Module

Shape = Callable[[type[Any]], type[Any]]
SHAPES: list[Shape] = []


def shape(made: Shape) -> Shape:
    SHAPES.append(made)
    return made


@shape
def a_configuration_and_a_device_of_its_own(base: type[Any]) -> type[Any]:
    class Net(base):  # type: ignore[misc] # either of two
        def __init__(self) -> None:
            super().__init__()
            self.config = {"width": 2}
            self.dtype = torch.float32
            self.weight = nn.Parameter(torch.randn(self.config["width"]))

        @property
        def device(self) -> torch.device:
            return self.weight.device

        def forward(self, x: Tensor) -> Tensor:
            return (x * self.weight).to(self.device, self.dtype)

    return Net


@shape
def children_and_tensors_under_names_of_module(base: type[Any]) -> type[Any]:
    class Net(base):  # type: ignore[misc] # either of two
        def __init__(self) -> None:
            super().__init__()
            self.export = nn.Linear(2, 2)
            self.freeze = nn.Parameter(torch.randn(2))
            self.register_buffer("version", torch.ones(2))
            self.register_parameter("migrate", None)
            self.add_module("register", nn.Linear(2, 2))
            self.device = "anything"

        def forward(self, x: Tensor) -> Any:
            return self.register(self.export(x)) * self.freeze + self.version

    return Net


@shape
def methods_under_names_of_module(base: type[Any]) -> type[Any]:
    class Net(base):  # type: ignore[misc] # either of two
        version = "1.0"

        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def to_device(self, name: str) -> str:
            raise AssertionError("nothing calls it")

        def migrate(self, path: str) -> None:
            raise AssertionError("nothing calls it")

        def config(self, key: str) -> str:
            raise AssertionError("nothing calls it")

        def export(self, key: str) -> str:
            raise AssertionError("nothing calls it")

        def forward(self, x: Tensor) -> Any:
            return self.inner(x)

    return Net


@shape
def annotated_attributes_of_the_class(base: type[Any]) -> type[Any]:
    class Net(base):  # type: ignore[misc] # either of two
        rate: float = 0.5
        _keys: list[str] = ["a"]  # noqa: RUF012 # what is tested
        training: bool
        config: dict[str, int]
        width: int

        def __init__(self) -> None:
            super().__init__()
            self.width = len(self._keys) + 1
            self.inner = nn.Linear(self.width, 2)

        def forward(self, x: Tensor) -> Any:
            return self.inner(x) * self.rate

    return Net


@shape
def a_mixin_with_a_constructor(base: type[Any]) -> type[Any]:
    class Mixin:
        def __init__(self, *args: object, **keywords: object) -> None:
            super().__init__(*args, **keywords)
            self.mixed = True

    class Net(Mixin, base):  # type: ignore[misc] # either of two
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, *args: Any, **keywords: Any) -> Any:
            return self.inner(*args, **keywords) * float(self.mixed)

    return Net


def _made(made: Shape, base: type[Any]) -> Any:
    torch.manual_seed(0)
    return made(base)()


@pytest.mark.parametrize("made", SHAPES, ids=lambda made: made.__name__)
def test_the_same_module_comes_of_it(made: Shape) -> None:
    plain, ours = _made(made, nn.Module), _made(made, Module)
    x = torch.randn(3, 2)
    assert isinstance(ours, Module)
    assert repr(ours) == repr(plain)
    assert list(ours.state_dict()) == list(plain.state_dict())
    for one in (ours, copy.deepcopy(ours)):
        assert torch.equal(one(x), plain(x))
    ours(x).sum().backward()
    plain(x).sum().backward()
    for (name, mine), (other, theirs) in zip(ours.named_parameters(), plain.named_parameters(), strict=True):
        assert name == other
        assert (mine.grad is None) == (theirs.grad is None)
        assert mine.grad is None or torch.equal(mine.grad, theirs.grad)


@pytest.mark.parametrize("made", SHAPES, ids=lambda made: made.__name__)
def test_it_loads_and_moves_as_the_plain_one(made: Shape) -> None:
    plain, ours = _made(made, nn.Module), _made(made, Module)
    assert ours.load_state_dict(plain.state_dict()) == plain.load_state_dict(ours.state_dict())
    assert ours.load_state_dict(plain.state_dict(), assign=True) == ours.load_state_dict(ours.state_dict())
    assert ours.cpu() is ours
    for one, other in zip(ours.half().state_dict().values(), plain.half().state_dict().values(), strict=True):
        assert one.dtype == other.dtype
    assert [one.training for one in ours.eval().modules()] == [one.training for one in plain.eval().modules()]


class Named(Module):
    """At the top level, so that it can be pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.add_module("export", nn.Linear(2, 2))
        self.register_buffer("version", torch.ones(2))

    def forward(self, x: Tensor) -> Any:
        return getattr(self, "export")(x) * getattr(self, "version")  # noqa: B009 # to checkers they are Module's


def test_names_that_gave_way_survive_a_pickle() -> None:
    module = Named()
    again = pickle.loads(pickle.dumps(module))
    x = torch.randn(3, 2)
    assert torch.equal(again(x), module(x))


class Placed(Module):
    """Sets its device itself, as many modules do."""

    def __init__(self) -> None:
        super().__init__()
        setattr(self, "device", "mine")  # noqa: B010 # to checkers it is read-only


def test_a_name_gives_way_where_look_ups_are_the_users_own() -> None:
    class Net(Module, init=False):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("version", torch.ones(2))

        def __getattribute__(self, name: str) -> Any:
            return super().__getattribute__(name)

    net: Any = Net()
    assert torch.equal(net.version, torch.ones(2))


def test_a_name_gives_way_where_a_tool_has_rewritten_the_methods_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    given = nn.Module.register_buffer
    code = given.__code__.replace(co_firstlineno=1)
    rewritten = FunctionType(code, given.__globals__, given.__name__, given.__defaults__, given.__closure__)
    monkeypatch.setattr(nn.Module, "register_buffer", rewritten)
    net: Any = Module()
    net.register_buffer("version", torch.ones(2))
    assert torch.equal(net.version, torch.ones(2))


def test_what_took_a_name_is_parametrized() -> None:
    class Net(Module, init=False):
        def __init__(self) -> None:
            super().__init__()
            setattr(self, "version", nn.Parameter(torch.ones(2, 2)))  # noqa: B010 # the type is the program's

    net: Any = Net()
    parametrize.register_parametrization(net, "version", nn.Tanh())
    assert torch.equal(net.version, torch.ones(2, 2).tanh())
    parametrize.remove_parametrizations(net, "version", leave_parametrized=False)
    assert torch.equal(net.version, torch.ones(2, 2)) and [*net.state_dict()] == ["version"]


def test_only_the_methods_of_a_module_take_the_name_of_its_device() -> None:
    placed, plain = Placed(), OwnNames()
    assert getattr(placed, "device") == "mine"  # noqa: B009
    setattr(placed, "device", "another")  # noqa: B010
    twin = pickle.loads(pickle.dumps(placed))
    assert (placed.device, twin.device) == ("another", "another")
    with pytest.raises(AttributeError, match="OwnNames.device cannot be set"):
        setattr(plain, "device", "another")  # noqa: B010
    with pytest.raises(AttributeError, match="device"):
        del plain.device  # pyright: ignore[reportAttributeAccessIssue] # the mistake under test
    del placed.device  # pyright: ignore[reportAttributeAccessIssue] # as above
    assert placed.device == Device("cpu")


class OwnNames(Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
