"""A small class for each shape of constructor that the census counts, plain and with another base: both are equal."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from benchmarks import constructor_shapes as census
from qten_gen import Module
from tests.module.census_shapes import plain

TEXT = Path(plain.__file__).read_text(encoding="utf-8")

SHAPES: dict[str, str] = {
    "Configured": census.CONFIG,
    "Rich": census.RICH,
    "Indexed": census.INDEX,
    "Sequenced": census.SEQUENTIAL,
    "Chosen": census.CHOICE,
    "Computed": census.COMPUTED,
    "Several": census.SEVERAL,
    "Conditional": census.CONDITION,
    "PassesAnything": census.VARARGS,
    "PassesToItsBase": census.BASE,
    "CarriesAWidth": census.LOOP,
    "MadeByAMethod": census.METHOD,
    "Branched": census.BRANCHES,
    "ChangedAfterwards": census.MOVED,
    "Shifted": census.SHIFT,
    "NamedAsItsArgument": census.ALIAS,
    "GivenByDefault": census.DEFAULT,
    "Decorated": census.DECORATED,
    "SizedByACall": census.CALLED,
    "Tried": census.OTHER,
}
"""The class of each shape, and the words of the census for it."""

ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "Configured": [(plain.Config(),), (plain.Config(bias=False),)],
    "Rich": [(6,), (6, 0.1), (6, 0.5, 9)],
    "Indexed": [((6, 4, 5),), ((6, 3),)],
    "Chosen": [(6,), (6, True, nn.SiLU)],
    "Conditional": [(6,), (6, 0.5), (6, 0.0, 2)],
    "CarriesAWidth": [(6,), (6, (3,))],
    "Branched": [(6,), (6, True)],
    "Shifted": [(6,), (6, True)],
    "NamedAsItsArgument": [(6,), (6, 0.5)],
}
"""Positional arguments of models; else the size alone."""


def _swapped() -> ModuleType:
    """The plain classes with Module as their base, and nothing else changed."""
    made = ModuleType("tests.module.census_shapes.swapped")
    sys.modules[made.__name__] = made
    vars(made)["Module"] = Module
    exec(compile(TEXT.replace("(nn.Module)", "(Module)"), "swapped.py", "exec"), vars(made))
    return made


SWAPPED = _swapped()


def _models() -> Iterator[Any]:
    for name in SHAPES:
        for number, arguments in enumerate(ARGUMENTS.get(name, [(6,)])):
            yield pytest.param(name, arguments, id=f"{name}-{number}")


def _results(model: nn.Module) -> list[Tensor]:
    torch.manual_seed(1)
    model.zero_grad()
    x = torch.linspace(-1, 1, 18).view(3, 6)
    y = model(x)
    y.square().sum().backward()
    return [y, *(p.grad if p.grad is not None else p for p in model.parameters())]


@pytest.mark.parametrize(("name", "arguments"), list(_models()))
def test_it_is_equal_to_the_plain_one(name: str, arguments: tuple[Any, ...]) -> None:
    options = {} if name != "PassesAnything" else {"bias": False}
    torch.manual_seed(0)
    expected, drawn = getattr(plain, name)(*arguments, **options), torch.rand(1)
    torch.manual_seed(0)
    model = getattr(SWAPPED, name)(*arguments, **options)

    assert torch.equal(torch.rand(1), drawn)
    assert isinstance(model, Module)
    assert not isinstance(expected, Module)
    assert list(model.state_dict()) == list(expected.state_dict())
    assert [key for key, _ in model.named_buffers()] == [key for key, _ in expected.named_buffers()]
    for one, other in zip(model.state_dict().values(), expected.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    copied = copy.deepcopy(model)
    wanted = _results(expected)
    for each in (model, copied):
        assert all(map(torch.equal, _results(each), wanted))


@pytest.mark.parametrize("name", SHAPES)
def test_the_census_sees_that_shape_in_it(name: str) -> None:
    classes = {node.name: node for node in ast.parse(TEXT).body if isinstance(node, ast.ClassDef)}
    init = next(node for node in classes[name].body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    found = census.shapes(init)
    assert SHAPES[name] in {*found.parts, *found.stops}


def test_each_shape_of_the_census_has_a_class() -> None:
    """A shape that the census learns to name needs a class here."""
    named = {
        value for name, value in vars(census).items() if name.isupper() and isinstance(value, str) and name[0] != "_"
    }
    assert set(SHAPES.values()) == named
