"""What the level `annotate` adds to adopted modules."""

from __future__ import annotations

from textwrap import indent

import pytest

from qten_gen.tools.adopt.adoption import Level

from .adopted import adopted

_HEAD = """\
from qten_gen import Module
from torch import Tensor, nn
from torch.nn import functional as F
import torch


class A(Module):
"""


def _body(init: str, forward: str = "def forward(self, x): pass", above: str = "") -> str:
    methods = f"def __init__(self, dim, bias=True):\n    super().__init__()\n{indent(init, '    ')}\n\n{forward}\n"
    return _HEAD + indent(above + methods, "    ")


REGISTERED = {
    "self.register_buffer('x', torch.ones(2))": "x: Tensor",
    "self.register_buffer('x', None)": "x: Tensor | None",
    "if bias:\n    self.register_buffer('x', torch.ones(2))\nelse:\n    self.register_buffer('x', None)": "x: Tensor | None",
    "self.register_parameter('x', nn.Parameter(torch.ones(2)))": "x: nn.Parameter",
    "self.add_module('x', nn.Linear(2, 2))": "x: nn.Linear",
    "setattr(self, 'x', nn.Linear(2, 2))": "x: nn.Linear",
    "for name in ('a', 'b'):\n    self.register_buffer(name, torch.ones(2))": "a: Tensor\nb: Tensor",
}


@pytest.mark.parametrize(("init", "lines"), REGISTERED.items(), ids=REGISTERED)
def test_what_is_registered_by_name_is_annotated(init: str, lines: str) -> None:
    before = _body(init)
    after = _HEAD + indent(lines, "    ") + "\n\n" + before.removeprefix(_HEAD)
    assert adopted(before, Level.ANNOTATE) == after
    assert adopted(after, Level.ANNOTATE) == after


@pytest.mark.parametrize(
    "init",
    [
        "self.x = nn.Linear(2, 2)",
        "self.register_buffer(dim, torch.ones(2))",
        "self.add_module('x', make(dim))",
        "self.register_buffer('x.y', torch.ones(2))",
    ],
)
def test_what_a_checker_sees_and_what_is_not_certain_is_left(init: str) -> None:
    assert adopted(_body(init), Level.ANNOTATE) == _body(init)


def test_what_the_class_or_a_base_says_already_is_left() -> None:
    text = _body("self.register_buffer('x', torch.ones(2))", above="x: Tensor\n\n")
    assert adopted(text, Level.ANNOTATE) == text
    child = f"{text}\n\nclass B(A):\n    def __init__(self):\n        super().__init__(2)\n"
    child += "        self.register_buffer('x', None)\n"
    assert adopted(child, Level.ANNOTATE) == child


def test_annotations_stand_behind_the_documentation_and_before_comments() -> None:
    before = _body("self.register_buffer('x', torch.ones(2))", above='"""What it is."""\n\n# the constructor\n')
    assert '    """What it is."""\n\n    x: Tensor\n\n    # the constructor\n' in adopted(before, Level.ANNOTATE)


PROVEN = ("F.softmax(x, -1)", "torch.cat([x, x])", "self.lin(x)", "self.net(x)")
_LAYERS = "self.lin = nn.Linear(2, 2)\nself.net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\nself.fn = fn(2)"


@pytest.mark.parametrize("value", PROVEN)
def test_a_result_that_the_text_proves_is_annotated(value: str) -> None:
    before = _body(
        _LAYERS, f"def forward(self, x):\n    if x is None:\n        return {value}\n    y = {value}\n    return y"
    )
    assert adopted(before, Level.ANNOTATE) == before.replace("forward(self, x):", "forward(self, x) -> Tensor:")


UNPROVEN = {
    "a parameter": "return x",
    "something unknown": "return self.fn(x)",
    "indices too": "return F.max_pool2d(x, 2, return_indices=True)",
    "nothing at the end": "if x: return F.relu(x)",
    "a variable with two values": "y = F.relu(x)\nif x: y = None\nreturn y",
    "an operator that the other side may define": "return F.relu(x) @ x",
    "a generator": "yield x\nreturn F.relu(x)",
    "a function of that name is given": "return F.relu(x)",
}


@pytest.mark.parametrize("body", UNPROVEN.values(), ids=UNPROVEN)
def test_a_result_that_is_not_proven_is_left(body: str) -> None:
    parameters = "self, F, x" if body == UNPROVEN["a function of that name is given"] else "self, x"
    before = _body(_LAYERS, f"def forward({parameters}):\n{indent(body, '    ')}")
    assert adopted(before, Level.ANNOTATE) == before


def test_a_layer_that_another_method_or_a_subclass_replaces_proves_nothing() -> None:
    before = _body("self.lin = nn.Linear(2, 2)", "def forward(self, x):\n    return self.lin(x)")
    replaced = f"{before}\n    def swap(self, other):\n        self.lin = other\n"
    derived = (
        f"{before}\n\nclass B(A):\n    def __init__(self):\n        super().__init__(2)\n        self.lin = None\n"
    )
    assert adopted(replaced, Level.ANNOTATE) == replaced
    assert adopted(derived, Level.ANNOTATE) == derived
