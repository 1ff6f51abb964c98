"""Plain modules whose base was changed to Module, and nothing else: one test for each shape of constructor.

Each shape is a function that makes the class with a base. With nn.Module and with Module it has to be the same module.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module

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
            self.export = self.freeze = False
            self.weight = nn.Parameter(torch.randn(self.config["width"]))

        @property
        def device(self) -> torch.device:
            return self.weight.device

        def forward(self, x: Tensor) -> Tensor:
            return (x * self.weight).to(self.device, self.dtype)

    return Net


@shape
def a_device_that_is_assigned(base: type[Any]) -> type[Any]:
    class Net(base):  # type: ignore[misc] # either of two
        def __init__(self) -> None:
            super().__init__()
            self.device = torch.device("cpu")
            self.weight = nn.Parameter(torch.randn(2, device=self.device))

        def forward(self, x: Tensor) -> Tensor:
            return (x * self.weight).to(self.device)

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


class Assigning(Module):
    def __init__(self, value: Any) -> None:
        super().__init__()
        setattr(self, "export", value)  # noqa: B010 # to checkers it is Module's


class Storing(Module):
    export: Any


@pytest.mark.parametrize("cls", [Assigning, Storing])
def test_what_a_method_of_module_would_hide_is_refused(cls: Any) -> None:
    assert cls(True).export is True
    for hidden in (nn.Linear(2, 2), nn.Parameter(torch.ones(2))):
        with pytest.raises(AttributeError, match=rf"{cls.__name__}\.export is a method, which would hide what is reg"):
            cls(hidden)
    with pytest.raises(KeyError, match="attribute 'version' already exists"):
        Module().register_buffer("version", torch.ones(2))
