"""One small class for each shape of constructor, adopted and compared with what it was, bit for bit.

The files in `before/` and `after/` have the name of the shape. To write the latter anew, run this file as a program.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

from qten_gen.project.scan import Origin
from qten_gen.tools.adopt.adopting import Outcome, adopt
from qten_gen.tools.adopt.adoption import Level, Options
from qten_gen.tools.adopt.opening import Sources
from qten_gen.tools.inspect.inputs import Inputs
from qten_gen.tools.verify.comparing import compare
from qten_gen.tools.verify.model_run import record
from tests.tools.adopt.adopted import LIBRARIES

HERE = Path(__file__).parent
SHAPES = sorted(path.name.partition(".")[0] for path in (HERE / "before").iterdir())

Make = Callable[[ModuleType], object]

MODELS: dict[str, list[tuple[str, Make]]] = {
    "sizes_and_plain_attributes": [
        ("FeedForward", lambda m: m.FeedForward(6)),
        ("FeedForward", lambda m: m.FeedForward(6, 2, dropout=0.5)),
    ],
    "unannotated_arguments": [
        ("Block", lambda m: m.Block(6, 8, causal=True)),
        ("Tower", lambda m: m.Tower(6, depth=3, mlp_dim=8)),
    ],
    "configuration_object": [
        ("Mlp", lambda m: m.Mlp(m.Config(n_embd=6))),
        ("Attention", lambda m: m.Attention(m.Config(n_embd=6), 1)),
        ("Stack", lambda m: m.Stack(config=m.Config(n_embd=6, dropout=0.1))),
    ],
    "parameters_and_buffers": [("Positions", lambda m: m.Positions(6))],
    "conditions": [
        ("Conditional", lambda m: m.Conditional(6)),
        ("Conditional", lambda m: m.Conditional(6, False, 0.5, True, 0.1)),
    ],
    "repeated_children": [("Stack", lambda m: m.Stack(6, depth=3))],
    "choice_by_argument": [
        ("Chosen", lambda m: m.Chosen(6)),
        ("Chosen", lambda m: m.Chosen(6, 3, nn.RMSNorm, nn.SiLU, eps=1e-3)),
    ],
    "argument_named_like_a_child": [
        ("Mlp", lambda m: m.Mlp(6)),
        ("Mlp", lambda m: m.Mlp(6, 8, nn.RMSNorm, nn.SiLU, 0.5, gamma=0.25, scale=3.0)),
    ],
    "children_given": [("Residual", lambda m: m.Residual(nn.Linear(6, 6), 6))],
    "inherited_constructor": [("Doubled", lambda m: m.Doubled(6)), ("Base", lambda m: m.Base(6))],
    "device_and_dtype": [
        ("Made", lambda m: m.Made(6)),
        ("Made", lambda m: m.Made(6, nn.RMSNorm, bias=False)),
    ],
    "child_in_one_branch": [("Branched", lambda m: m.Branched(6)), ("Branched", lambda m: m.Branched(6, True, False))],
    "list_made_before": [("Listed", lambda m: m.Listed(6, 3))],
    "passed_configuration": [("Outer", lambda m: m.Outer(m.Config()))],
    "sequential": [("Net", lambda m: m.Net(6, rate=0.1))],
    "grown_lists": [
        ("Tower", lambda m: m.Tower(6)),
        ("Tower", lambda m: m.Tower(6, 3)),
        ("Heads", lambda m: m.Heads(6, (2, 3, 4))),
    ],
    "made_by_functions": [("Net", lambda m: m.Net(6)), ("Net", lambda m: m.Net(6, 4, ["linear"]))],
    "values_of_branches": [
        ("Net", lambda m: m.Net(6)),
        ("Net", lambda m: m.Net(6, "prelu", 8, True)),
    ],
    "attributes_that_a_branch_changes": [
        ("Windowed", lambda m: m.Windowed(6, (4, 5))),
        ("Windowed", lambda m: m.Windowed(6, (8, 9), 7, 3)),
        ("Sized", lambda m: m.Sized(6, [4, 5])),
        ("Sized", lambda m: m.Sized(6, (4, 9))),
    ],
    "bases_with_methods": [("Base", lambda m: m.Base(6)), ("Wide", lambda m: m.Wide(6, 2))],
    "rest_after_construction": [
        ("Growing", lambda m: m.Growing(6, 3)),
        ("Initialised", lambda m: m.Initialised(6)),
        ("Given", lambda m: m.Given(nn.Linear(6, 6), 6)),
    ],
    "lists_by_default": [("Tower", lambda m: m.Tower(6)), ("Tower", lambda m: m.Tower(6, (2, 3)))],
    "arguments_under_another_name": [
        ("Gated", lambda m: m.Gated(6, nn.ReLU())),
        ("Gated", lambda m: m.Gated(6, activation=torch.tanh, inner_dim=5, out_dim=2)),
    ],
    "reset_at_the_end": [
        ("Scaled", lambda m: m.Scaled(6, 4)),
        ("Scaled", lambda m: m.Scaled(6, 4, False)),
        ("Stack", lambda m: m.Stack(6)),
    ],
    "initialised_at_the_end": [("Initialised", lambda m: m.Initialised(6))],
}
"""Models of each shape."""


def adopted(text: str, name: str = "sample") -> Outcome:
    """What the level declare makes of the text of a file."""
    path = f"{name}.py"
    sources = Sources.of({path: text.encode()}, {path: Origin("", name, False)}, [path], libraries=LIBRARIES)
    return adopt(sources, Options(Level.DECLARE))


def test_subclasses_no_longer_keep_a_constructor_that_is_declared() -> None:
    text = """from torch import nn
from qten_gen import Module


class Base(Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.proj = nn.Linear(dim, dim)


class Child(Base, init=False): ...


class Grandchild(Child, init=False): ...
"""
    changed = adopted(text).texts["sample.py"].decode()

    assert [line for line in changed.splitlines() if line.startswith("class ")] == [
        "class Base(Module):",
        "class Child(Base): ...",
        "class Grandchild(Child): ...",
    ]


def declared(outcome: Outcome) -> list[str]:
    """The classes whose constructor became fields."""
    return [each.found.name for each in outcome.adoptions if any(level is Level.DECLARE for level, _ in each.done)]


def reason(text: str, name: str) -> str:
    """Why the constructor of a class stays."""
    outcome = adopted(text)
    assert name not in declared(outcome), outcome.texts
    each = next(each for each in outcome.adoptions if each.found.name == name)
    return next(why.text for level, why in each.stays if level is Level.DECLARE)


@pytest.fixture
def imported() -> Iterator[Callable[[str, str], ModuleType]]:
    """Imports a file of `before` or `after`."""
    names = []

    def load(folder: str, shape: str) -> ModuleType:
        name = f"{shape}_{folder}"
        loader = SourceFileLoader(name, str(HERE / folder / f"{shape}.py.txt"))
        spec = importlib.util.spec_from_loader(name, loader)
        assert spec is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        names.append(name)
        loader.exec_module(module)
        return module

    yield load
    for name in names:
        del sys.modules[name]


def arguments_of(make: Make, module: ModuleType, name: str) -> tuple[list[object], dict[str, object]]:
    """The arguments with which `make` calls the class of that name."""
    noted: list[tuple[list[object], dict[str, object]]] = []

    def note(*args: object, **keywords: object) -> None:
        noted.append((list(args), keywords))

    stand_in = ModuleType(module.__name__)
    vars(stand_in).update(vars(module), **{name: note})
    make(stand_in)
    return noted[0]


def inputs(model: nn.Module) -> Inputs:
    return Inputs((torch.linspace(-1, 1, 72).reshape(2, 6, 6),), {})


def test_each_shape_has_models() -> None:
    assert sorted(MODELS) == SHAPES


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_becomes_what_the_golden_file_says(shape: str) -> None:
    before = (HERE / "before" / f"{shape}.py.txt").read_text()
    (after,) = adopted(before, shape).texts.values()
    assert after.decode() == (HERE / "after" / f"{shape}.py.txt").read_text()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_second_run_has_nothing_to_do(shape: str) -> None:
    assert adopted((HERE / "after" / f"{shape}.py.txt").read_text(), shape).texts == {}


@pytest.mark.parametrize(
    ("shape", "index"), [(shape, index) for shape in SHAPES for index in range(len(MODELS[shape]))]
)
def test_the_declared_class_is_equal(shape: str, index: int, imported: Callable[[str, str], ModuleType]) -> None:
    """Keys, values from the same seed, attributes, draws, outputs, gradients and constructor."""
    name, make = MODELS[shape][index]
    records = []
    for folder in ("before", "after"):
        module = imported(folder, shape)
        kind = getattr(module, name)
        torch.manual_seed(1)  # for modules among the arguments
        args, keywords = arguments_of(make, module, name)
        records.append(record(kind, args, keywords, inputs))
    old, new = records
    assert all("error" not in call.outputs for call in old.calls.values())
    assert compare(old, new) == ()


if __name__ == "__main__":
    for each in SHAPES:
        for data in adopted((HERE / "before" / f"{each}.py.txt").read_text(), each).texts.values():
            (HERE / "after" / f"{each}.py.txt").write_bytes(data)
