"""The generated constructor: arguments, registration, initialisation, device and dtype."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from qten_gen import DeclarationError, Module, param, rules, submodule
from qten_gen.read.module import read
from tests.linking import link

from .declared import Block


def test_config_fields_are_ordinary_attributes() -> None:
    block = Block(4, heads=3)
    assert (block.dim, block.heads) == (4, 3)
    assert Block(4).heads == 2


def test_a_config_value_that_is_not_an_integer_is_refused_as_a_dimension() -> None:
    with pytest.raises(TypeError):
        Block((2, 2))  # type: ignore[arg-type] # what the test is about


def test_repr_shows_the_constructor_arguments() -> None:
    assert repr(Block(4)).splitlines()[1] == "  dim=4, heads=2"


def test_unknown_attributes_are_reported() -> None:
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'wieght'"):
        Block(4).wieght  # type: ignore[attr-defined] # noqa: B018 # what the test is about


def test_a_wrong_argument_is_reported_with_the_class() -> None:
    with pytest.raises(TypeError, match=r"Block.__init__\(\) missing 1 required positional argument: 'dim'"):
        Block()  # type: ignore[call-arg] # what the test is about


class Counted(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    lin: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def __post_init__(self) -> None:
        if self.dim > 8:
            raise ValueError("dim is too large")
        self.calls = vars(self).get("calls", 0) + 1
        self.total = self.weight.sum().item() + self.lin.in_features


class CountedMore(Counted):
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.total += self.bias.sum().item()


@pytest.mark.parametrize("cls", [Counted, CountedMore])
def test_post_init_runs_once_after_everything_is_initialised(cls: type[Counted]) -> None:
    counted = cls(2)

    assert counted.calls == 1 and counted.total == 4
    for twin in (copy.deepcopy(counted), pickle.loads(pickle.dumps(counted)), counted.to(torch.float64)):
        assert twin.calls == 1
    with pytest.raises(ValueError, match="dim is too large"):
        cls(9)


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ("x = param(2, initializer=nn.init.ones_)", "write x: nn.Parameter = param(...)"),
        ("x = buffer(2, initializer=nn.init.ones_)", "write x: Tensor = buffer(...)"),
        ("x = submodule(torch.nn.Linear, 2, 2)", "write x: torch.nn.Linear = submodule(...)"),
        ("x = field(default=2)", "write x: its type = field(...)"),
        ("x: ClassVar[Tensor] = buffer(2, initializer=nn.init.ones_)", "write x: Tensor = buffer(...)"),
    ],
)
@pytest.mark.parametrize("base", ["Module", "Counted"])
def test_a_specifier_without_annotation_is_refused_by_command_and_class_statement(
    line: str, help: str, base: str
) -> None:
    head = "import torch\nfrom typing import ClassVar\nfrom torch import Tensor, nn\n" + (
        "from qten_gen import Module, buffer, field, param, submodule\nclass Counted(Module):\n    dim: int = 1\n"
    )
    text = f"{head}class Net({base}):\n    {line}\n"
    source, _ = read(text.encode(), "model.py", "model")
    (file,), _ = link([source])

    said = [(item.code, item.help) for item in rules.check(file)]
    with pytest.raises(DeclarationError) as caught:
        exec(compile(text, "<model>", "exec"), {"__name__": "unannotated_model"})
    assert said == [(item.code, item.help) for item in caught.value.findings] == [("QG201", help)]
