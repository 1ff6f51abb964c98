"""The generated constructor: arguments, registration, initialisation, device and dtype."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import DeclarationError, Module, param, rules, submodule
from qten_gen.link import link
from qten_gen.read.module import read

from .declared import Block


def test_config_fields_are_ordinary_attributes() -> None:
    block = Block(4, heads=3)
    assert (block.dim, block.heads) == (4, 3)
    assert Block(4).heads == 2


def test_the_signature_is_the_declared_one() -> None:
    assert [(p.name, p.kind, p.default) for p in inspect.signature(Block).parameters.values()] == [
        ("dim", inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty),
        ("heads", inspect.Parameter.POSITIONAL_OR_KEYWORD, 2),
        ("device", inspect.Parameter.KEYWORD_ONLY, None),
        ("dtype", inspect.Parameter.KEYWORD_ONLY, None),
    ]


def test_a_config_value_that_is_not_an_integer_is_refused_as_a_dimension() -> None:
    with pytest.raises(TypeError):
        Block((2, 2))  # type: ignore[arg-type] # what the test is about


class Plain(nn.Module):
    """Takes neither device nor dtype."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(rows))


def test_a_submodule_that_takes_no_device_or_dtype_is_moved() -> None:
    class Holder(Module):
        rows: int
        inner: Plain = submodule(Plain, "rows")

    assert Holder(3, dtype=torch.float64).inner.weight.dtype is torch.float64
    assert Holder(3, device="meta").inner.weight.device.type == "meta"


def test_a_module_without_tensors_has_nothing_to_initialise() -> None:
    class Scale(Module):
        factor: float = 2.0

        def forward(self, x: Tensor) -> Tensor:
            return x * self.factor

    scale = Scale()
    scale.reset_parameters()
    assert torch.equal(scale(torch.ones(2)), torch.full((2,), 2.0))
    assert not scale.state_dict()


def test_an_own_constructor_registers_by_assignment() -> None:
    class Classic(Module):
        weight: nn.Parameter
        layer: nn.Linear

        def __init__(self, n: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(n))
            self.layer = nn.Linear(n, n)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.layer(x) * self.weight
            return out

    classic = Classic(3)
    assert [name for name, _ in classic.named_parameters()] == ["weight", "layer.weight", "layer.bias"]
    assert classic(torch.ones(2, 3)).shape == (2, 3)


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


def test_post_init_of_a_mixin_runs_too() -> None:
    class Mixin:
        def __post_init__(self) -> None:
            self.ready = True

    class Mixed(Mixin, Module):
        dim: int

    assert Mixed(1).ready


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ("x = param(2, initializer=nn.init.ones_)", "write x: nn.Parameter = param(...)"),
        ("x = buffer(2, initializer=nn.init.ones_)", "write x: Tensor = buffer(...)"),
        ("x = submodule(nn.Linear, 2, 2)", "write x: the class of the module = submodule(...)"),
        ("x = field(default=2)", "write x: its type = field(...)"),
        ("x: ClassVar[Tensor] = buffer(2, initializer=nn.init.ones_)", "write x: Tensor = buffer(...)"),
    ],
)
@pytest.mark.parametrize("base", ["Module", "Counted"])
def test_a_specifier_without_annotation_is_refused_by_command_and_class_statement(
    line: str, help: str, base: str
) -> None:
    head = "from typing import ClassVar\nfrom torch import Tensor, nn\n" + (
        "from qten_gen import Module, buffer, field, param, submodule\nclass Counted(Module):\n    dim: int = 1\n"
    )
    text = f"{head}class Net({base}):\n    {line}\n"
    source, _ = read(text.encode(), "model.py", "model")
    (file,), _ = link([source])

    said = [(item.code, item.help) for item in rules.check(file)]
    with pytest.raises(DeclarationError) as caught:
        exec(compile(text, "<model>", "exec"), {"__name__": "unannotated_model"})
    assert said == [(item.code, item.help) for item in caught.value.findings] == [("QG201", help)]


def test_a_fresh_generated_class_does_not_hide_it(project: Any) -> None:
    text = "from torch import nn\nfrom qten_gen import Module, param\nclass Net(Module):\n    dim: int\n"
    project.write(model=text)
    project.generate()
    project.write(model=f"{text}    weight = param('dim', initializer=nn.init.ones_)\n")

    with pytest.raises(DeclarationError, match="the field weight has no annotation"):
        project.load("model")
