"""What holds for every file: a second run has nothing to do, only lines of classes and imports change, the result runs alike."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from qten_gen.tools.adopt.files import Text
from qten_gen.tools.adopt.records import Level

from .adopted import adopted

_IMPORTS = (
    "import torch\n",
    "from torch import nn\n",
    "from torch import Tensor, nn\n",
    "import torch.nn as nn\n",
    "from torch.nn import Module\n",
    "from torch.nn import Linear, Module  # both\n",
    "import math\n",
    "from tensordict import TensorClass, tensorclass\n",
    "from .other import thing\n",
)
_CLASSES = (
    "class A{0}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('x', None)\n",
    "class A{0}( Module ):  # ä\n    '''größer'''\n    def forward(self, x): return torch.relu(x)\n",
    "class A{0}(torch.nn.Module):\n    def __init__(self): super().__init__(); self.register_buffer('b', None)\n",
    "@tensorclass\nclass A{0}:\n    x: torch.Tensor\n    y: torch.Tensor = None\n",
    "class A{0}(TensorClass['nocast']):\n    data: torch.Tensor\n",
    "class A{0}(nn.Linear):\n    pass\n",
    "def f{0}(m: Module):\n    return isinstance(m, nn.Module)\n",
    "x{0} = 'Module'\n",
)

programs = st.builds(
    lambda imports, classes, end: (
        "".join(imports) + "\n\n" + "\n\n".join(text.format(index) for index, text in enumerate(classes))
    ).replace("\n", end),
    st.lists(st.sampled_from(_IMPORTS), max_size=5),
    st.lists(st.sampled_from(_CLASSES), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


@settings(max_examples=30)
@given(programs, st.sampled_from([Level.BASE, Level.ANNOTATE]))
def test_the_result_parses_and_a_second_run_has_nothing_to_do(program: str, level: Level) -> None:
    first = adopted(program, level)
    ast.parse(first)
    assert adopted(first, level) == first


@settings(max_examples=30)
@given(programs)
def test_at_the_level_base_every_other_line_stays_as_it_is(program: str) -> None:
    def rest(text: str) -> list[str]:
        words = ("import", "from", "class", "@tensorclass", "    y: torch.Tensor")
        return [line for line in text.splitlines() if not line.startswith(words) and line.strip()]

    assert rest(adopted(program)) == rest(program)


@given(st.text(alphabet="aä€\n\U0001f600 ", max_size=30))
def test_a_position_of_the_parser_is_the_character(text: str) -> None:
    whole = Text(text)
    before = 0
    for number, line in enumerate(text.split("\n"), 1):
        for column in range(len(line) + 1):
            assert whole.offset(number, len(line[:column].encode())) == before + column
        before += len(line) + 1


_MODEL = '''\
import torch
from torch import nn
from torch.nn import Module, functional as F


class Norm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)


class Block(Module):
    """A block."""

    def __init__(self, dim, bias=True):
        super().__init__()
        self.norm = Norm(dim)
        self.net = nn.Sequential(nn.Linear(dim, 2 * dim, bias=bias), nn.GELU(), nn.Linear(2 * dim, dim))
        if bias:
            self.register_buffer("shift", torch.randn(dim))
        else:
            self.register_buffer("shift", None)
        self.register_parameter("scale", nn.Parameter(torch.randn(dim)))

    def forward(self, x):
        y = x + self.net(self.norm(x)) * self.scale
        return y if self.shift is None else y + self.shift


class Model(nn.Module):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, bias=i % 2 == 0) for i in range(depth)])
        for name in ("first", "last"):
            setattr(self, name, nn.Linear(dim, dim))

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return F.softmax(self.last(x), dim=-1)


class Small(Model):
    def __init__(self):
        super().__init__(4, 1)
'''


def _imported(text: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("level", [Level.BASE, Level.ANNOTATE])
@pytest.mark.parametrize("cls", ["Model", "Small"])
def test_an_adopted_module_is_equal_bit_for_bit(
    level: Level, cls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = adopted(_MODEL, level)
    assert text != _MODEL
    results = []
    for name, source in (("before", _MODEL), ("after", text)):
        made = getattr(_imported(source, f"adopted_{name}", tmp_path, monkeypatch), cls)
        torch.manual_seed(0)
        model = made()
        x = torch.randn(3, model.first.in_features, requires_grad=True)
        model(x).square().sum().backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        state = model.state_dict()
        results.append((list(state), [*state.values(), x.grad, *gradients], repr(model)))
    (keys, tensors, shown), (other_keys, others, other_shown) = results
    assert keys == other_keys
    assert all(torch.equal(one, other) for one, other in zip(tensors, others, strict=True))
    assert shown == other_shown
