"""What the second construction must not do: change the caller's objects, use later arguments, or lose a write in silence."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

from qten_gen import Module, param, submodule


class Fill(Module):
    value: float = 1.0
    weight: nn.Parameter = param(1, initializer="fill")

    def fill(self, tensor: torch.Tensor) -> None:
        tensor.fill_(self.value)


class Doubling(Module):
    parts: object
    weight: nn.Parameter = param(1, initializer=nn.init.ones_)

    def __post_init__(self) -> None:
        found = self.parts if isinstance(self.parts, list) else vars(self.parts)["layers"]
        for part in found:
            part.weight.data.mul_(2)
        self.weight.data.mul_(3)


class Settings:
    def __init__(self, layers: list[nn.Linear]) -> None:
        self.layers = layers


@pytest.mark.parametrize("wrap", [lambda layers: layers, Settings])
def test_modules_inside_of_arguments_are_the_callers_and_change_once(wrap: Callable[[list[nn.Linear]], object]) -> None:
    layer = nn.Linear(1, 1)
    before = layer.weight.item()
    module = Doubling.on_meta(wrap([layer]))
    with pytest.warns(UserWarning, match=r"an argument of Doubling\(\) is or holds a module or a tensor"):
        module.materialize("cpu")
    assert layer.weight.item() == 2 * before


class Values(Module):
    def __init__(self, values: list[float]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(values))
        values.append(9.0)


class Squaring(Fill):
    def __post_init__(self) -> None:
        self.value = self.value**2


class Outer(Module):
    inner: Squaring = submodule(Squaring, 3.0)


def test_the_arguments_are_those_that_were_given() -> None:
    values = [1.0, 2.0]
    module = Values.on_meta(values)
    values[:] = [7.0, 8.0]
    assert module.materialize("cpu").weight.tolist() == [1, 2] and values == [7, 8]
    assert Squaring.on_meta(3.0).materialize("cpu").weight.item() == 3
    with pytest.warns(UserWarning, match=r"Squaring\(\) does not make inner as it is now"):
        Outer.on_meta().materialize("cpu")


class Pair(Module):
    one: Fill = submodule(Fill, 1.0)
    three: Fill = submodule(Fill, 3.0)


class PairWithPost(Pair):
    def __post_init__(self) -> None:
        self.three.weight.data.mul_(2)


@pytest.mark.parametrize("cls", [Pair, PairWithPost])
@pytest.mark.parametrize(("kept", "tied"), [("one", "three"), ("three", "one")])
def test_a_tie_made_afterwards_has_the_values_of_the_module_that_made_it(cls: type[Pair], kept: str, tied: str) -> None:
    found, expected = cls.on_meta(), cls()
    for pair in (found, expected):
        getattr(pair, tied).weight = getattr(pair, kept).weight
    copied = copy.deepcopy(found)
    found.materialize("cpu")
    assert found.one.weight is found.three.weight and torch.equal(found.one.weight, expected.one.weight)
    if cls is Pair:
        with pytest.warns(UserWarning, match=r"one\.weight and three\.weight are one tensor"):
            copied.materialize("cpu")


def test_children_that_are_exchanged_or_changed_afterwards_do_not_get_values_of_others() -> None:
    pair = PairWithPost.on_meta()
    pair.one, pair.three = pair.three, pair.one
    pair.materialize("cpu")
    assert (pair.one.weight.item(), pair.three.weight.item()) == (6, 1)
    pair = PairWithPost.on_meta()
    pair.three = Fill.on_meta(5.0)
    assert pair.materialize("cpu").three.weight.item() == 5
    pair = PairWithPost.on_meta()
    pair.three.value = 5.0
    with pytest.warns(UserWarning, match=r"PairWithPost\(\) does not make three as it is now"):
        pair.materialize("cpu")


class ByHand(Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)
        nn.init.zeros_(self.layer.weight)


class Around(Module):
    given: nn.Module
    inner: ByHand = submodule(ByHand)


class Foreign(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)
        nn.init.zeros_(self.layer.weight)


class AroundForeign(Module):
    given: nn.Module
    inner: Foreign = submodule(Foreign)


def on_device() -> nn.Module:
    with torch.device("meta"):
        return ByHand()


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (on_device, "ByHand has an __init__ of its own"),
        (lambda: copy.deepcopy(ByHand.on_meta()), "ByHand has an __init__ of its own"),
        (lambda: Around.on_meta(nn.Linear(1, 1)), "ByHand has an __init__ of its own"),
        (
            lambda: AroundForeign.on_meta(nn.Linear(1, 1)),
            r"Foreign is not constructed once more: an argument of Around",
        ),
    ],
)
def test_a_write_of_the_author_that_is_lost_is_named(make: Callable[[], Module], named: str) -> None:
    module = make()
    with pytest.warns(UserWarning, match=f"{named}.*is lost"):
        module.materialize("cpu")
