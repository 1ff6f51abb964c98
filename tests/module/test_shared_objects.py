"""What a class body makes once is refused or made anew: modules, tensors and containers in arguments and defaults."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import DeclarationError, Module, ModuleList, field, rules, submodule
from qten_gen.read.module import read
from tests.linking import link

from .declared import Kept

HEAD = """\
import torch
from collections import OrderedDict
from functools import partial
from typing import Any
from torch import Tensor, nn
from qten_gen import Module, ModuleList, buffer, field, param, submodule


class Child(nn.Module):
    def __init__(self, *values, **named):
        super().__init__()


class Inner(Module):
    size: int = 2
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)


"""
OBJECTS = (
    "nn.Linear(2, 2)",
    "Inner(3)",
    "Child()",
    "nn.Linear(2, 2).eval()",
    "nn.Parameter(torch.ones(2))",
    "torch.ones(2).add(1)",
)
AROUND = (
    "[{}]",
    "(1, {})",
    "{{'a': {}}}",
    "[({},)]",
    "[{} for _ in range(2)]",
    "partial(Child, {})",
    "partial(Child, key=[{}])",
    "dict(a={})",
)
FIELDS = (
    "x: Child = submodule(Child, {})",
    "x: Child = submodule(Child, 1, key={})",
    "x: ModuleList[Child] = submodule(Child, {}, repeat=3)",
    "x: Child = submodule(Child, submodule(Child, {}))",
)


def by_the_command(text: str) -> list[str]:
    """The codes that a run reports for a file with this text."""
    source, said = read(text.encode(), "model.py", "model")
    files, more = link([source])
    return [item.code for item in (*said, *more, *rules.check(files[0]))]


def by_the_statement(text: str) -> list[str]:
    """The codes that the class statement reports."""
    try:
        exec(compile(text, "<model>", "exec"), {"__name__": "shared_model"})
    except DeclarationError as error:
        return [item.code for item in error.findings]
    return []


def refused(line: str) -> None:
    text = f"{HEAD}class Net(Module):\n    {line}\n"

    said = by_the_command(text)
    assert said[-1] == "QG314" and set(said) <= {"QG206", "QG314"}, line
    assert by_the_statement(text) == said, line


@pytest.mark.parametrize("made", OBJECTS)
def test_an_argument_that_contains_a_module_or_tensor_is_refused_by_command_and_class_statement(made: str) -> None:
    for index, around in enumerate(("{}", *AROUND)):
        refused(FIELDS[index % len(FIELDS)].format(around.format(made)))


@pytest.mark.parametrize("made", OBJECTS)
def test_a_default_that_contains_one_is_refused(made: str) -> None:
    for around in AROUND:
        refused(f"x: Any = {around.format(made)}")
        refused(f"x: Any = field(default={around.format(made)})")
    refused(f"x: Any = field(default_factory=partial(Child, {made}))")


@pytest.mark.parametrize("made", ["nn.Linear(2, 2)", "partial(Child, nn.Linear(2, 2))"])
def test_a_module_in_place_of_the_class_is_refused(made: str) -> None:
    refused(f"x: nn.Module = submodule({made})")


BOUND = (
    "nn.Linear(2, 2).forward",
    "partial(nn.Linear(2, 2).forward, 1)",
    "[nn.Linear(2, 2).__call__]",
    "lambda x, layer=nn.Linear(2, 2): layer(x)",
    "lambda x, *, layers=(nn.Linear(2, 2),): layers",
    "{nn.Linear(2, 2): 1}",
)


@pytest.mark.parametrize("made", BOUND)
def test_a_method_or_a_default_that_holds_a_module_is_refused(made: str) -> None:
    for field_ in FIELDS:
        refused(field_.format(made))


@pytest.mark.parametrize(
    "hold",
    [
        lambda layer: layer.weight.add,
        lambda layer: partial(partial(layer.forward), 1),
        lambda layer: deque([layer]),
        lambda layer: MappingProxyType({"a": [layer]}),
        lambda layer: {"a": layer}.values(),
        lambda layer: SimpleNamespace(layer=layer),
        lambda layer: [layer].append,
    ],
)
def test_a_module_is_found_wherever_python_keeps_it(hold: Callable[[nn.Module], object]) -> None:
    with pytest.raises(DeclarationError, match="an argument of body contains a"):

        class Net(Module):
            body: Kept = submodule(Kept, hold(nn.Linear(2, 2)))


def test_functions_that_hold_no_module_are_arguments() -> None:
    scale = torch.ones(2)

    def scaled(value: Tensor, by: Tensor = scale) -> Tensor:
        return value * by

    class Net(Module):
        a: Kept = submodule(Kept, scaled, torch.relu, str.upper, "x".upper, key=lambda value: value * scale)
        b: nn.Module = submodule(lambda: nn.NLLLoss(scale))

        def forward(self, x: Tensor, act: nn.Module = nn.ReLU()) -> Tensor:  # noqa: B008 # as people write it
            out: Tensor = act(x)
            return out

        names = map(str, ())

    assert Net().a.kept[0] is scaled and Net()(scale) is not None


def test_what_only_the_program_knows_is_refused_by_the_class_statement() -> None:
    shared = nn.Linear(2, 2)

    with pytest.raises(DeclarationError, match="an argument of body contains a module"):

        class Net(Module):
            body: nn.Sequential = submodule(nn.Sequential, OrderedDict(a=shared))

    @dataclass(frozen=True)
    class Settings:
        layer: nn.Module

    with pytest.raises(DeclarationError, match="the default of settings contains a module"):

        class Other(Module):
            settings: Any = Settings(shared)


def test_a_fresh_generated_class_does_not_hide_it(project: Any) -> None:
    text = """
        from torch import nn
        from qten_gen import Module, submodule
        from .layers import SHARED

        class Net(Module):
            body: nn.Sequential = submodule(nn.Sequential, SHARED)
    """
    project.write(pkg__="", pkg__layers="from torch import nn\nSHARED = nn.Linear(2, 2)\n", pkg__model=text)
    project.generate()

    with pytest.raises(DeclarationError, match="an argument of body contains a module"):
        project.load("pkg.model")


def test_containers_among_the_arguments_are_new_for_each_child() -> None:
    class Net(Module):
        one: ModuleList[Kept] = submodule(Kept, [1, [2]], key={"a": [3]}, repeat=2)
        two: ModuleList[Kept] = submodule(partial(Kept, {4}), ([5], 6), deque([7]), repeat=2)

    for first, second in zip(*([*net.one, *net.two] for net in (Net(), Net())), strict=True):
        assert first.kept == second.kept
        assert not containers(first.kept) & containers(second.kept)
    assert not containers(Net().one[0].kept) & containers(Net().one[1].kept)


def containers(kept: Any) -> set[int]:
    inside = kept.values() if isinstance(kept, dict) else kept if isinstance(kept, tuple | list) else ()
    own = {id(kept)} if isinstance(kept, list | dict | set | deque) else set()
    return own.union(*(containers(item) for item in inside))


def test_a_tensor_or_a_factory_as_default_makes_an_object_for_each_instance() -> None:
    class Net(Module):
        start: Tensor = torch.zeros(2)
        lin: nn.Linear = field(default_factory=lambda: nn.Linear(2, 2))

    one, two = Net(), Net()
    assert one.start is not two.start and not torch.equal(one.lin.weight, two.lin.weight)
    assert list(one.state_dict()) == ["lin.weight", "lin.bias"]


def test_only_a_field_is_repeated_or_conditional() -> None:
    text = f"{HEAD}class Net(Module):\n    x: Child = submodule(Child, submodule(Child, repeat=2))\n"
    assert by_the_command(text) == ["QG305"]

    with pytest.raises(DeclarationError, match="repeat is for a submodule that is a field"):
        exec(compile(text, "<model>", "exec"), {"__name__": "shared_model"})


def test_a_submodule_in_a_container_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"an argument of heads has submodule\(\.\.\.\) in a container"):

        class Held(Module):
            heads: nn.ModuleDict = submodule(nn.ModuleDict, {"a": submodule(nn.Linear, 2, 2)})
