"""What the level `annotate` adds to adopted modules."""

from __future__ import annotations

from textwrap import indent

import pytest

from qten_gen.tools.adopt.records import Level

from .adopted import adopted, outcome

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
    "if bias:\n    x = torch.ones(2)\nelse:\n    x = None\nself.register_buffer('x', x)": "x: Tensor | None",
    "x = None\nif bias:\n    x = torch.ones(2)\nself.register_buffer('x', x)": "x: Tensor | None",
    "x = torch.ones(2) if bias else None\nself.register_buffer('x', x)": "x: Tensor | None",
    "y = None\nx = y or bias\nself.register_buffer('x', None if bias else x)": "x: Tensor | None",
    "self.register_buffer('x', table(dim))": "x: Tensor | None",
    "self.register_buffer('x', self.made(dim))": "x: Tensor | None",
    "self.register_buffer('x', A.fresh(dim))": "x: Tensor",
    "x = given\nif x is None:\n    x = torch.ones(2)\nself.register_buffer('x', x)": "x: Tensor",
    "self.register_buffer('x', given)": "x: Tensor | None",
    "self.emb = nn.Embedding(2, 2)\nself.register_buffer('x', self.emb.weight.data.clone())": "x: Tensor",
    "x = torch.arange(dim).float()\nx[:] /= dim\nself.register_buffer('x', x)": "x: Tensor",
}
_MAKERS = """
def table(dim):
    if dim > 2:
        return torch.ones(dim)
"""
_HELPERS = """
@staticmethod
def fresh(dim):
    return torch.ones(dim)

def made(self, dim):
    return None if dim > 2 else torch.ones(dim)
"""


@pytest.mark.parametrize(("init", "lines"), REGISTERED.items(), ids=REGISTERED)
def test_what_is_registered_by_name_is_annotated(init: str, lines: str) -> None:
    before = _body(init, _HELPERS).replace("bias=True", "bias=True, given=None") + _MAKERS
    after = _HEAD + indent(lines, "    ") + "\n\n" + before.removeprefix(_HEAD)
    assert adopted(before, Level.ANNOTATE) == after
    assert adopted(after, Level.ANNOTATE) == after


def test_a_name_that_another_method_sets_to_none_may_be_none() -> None:
    text = _body("self.register_buffer('x', torch.ones(2))", "def clear(self):\n    self.x = None")
    assert "    x: Tensor | None\n" in adopted(text, Level.ANNOTATE)


@pytest.mark.parametrize(
    "init",
    [
        "self.x = nn.Linear(2, 2)",
        "self.register_buffer(dim, torch.ones(2))",
        "self.add_module('x', make(dim))",
        "self.register_buffer('x.y', torch.ones(2))",
        "self.register_buffer('x', dim)",
        "self.register_buffer('x', unknown(dim))",
        "x = dim.table\nself.register_buffer('x', x)",
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


PROVEN = (
    "return F.softmax(x, -1)",
    "return torch.cat([x, x])",
    "return self.net(x)",
    "x = self.lin(x)\nx = self.act(x)\nreturn x",
    "if x is None:\n    return self.lin(x)\ny = self.lin(x)\nreturn y",
    "if x:\n    y = self.lin(x)\nelse:\n    y = F.relu(x)\nreturn y * 2 + 1",
    "return x + self.act(self.lin(x))",
    "y = x\nx = self.lin(x)\nreturn y + x",
    "for _ in range(2):\n    x = self.lin(x)\nreturn self.act(x).transpose(1, 2)[:, 0]",
    "q, k = self.lin(x).chunk(2, -1)\nreturn (q @ k).T",
    "with torch.no_grad():\n    y = self.lin(x)\nreturn y",
    "x = self.lin(x)\nfor inner in self.blocks:\n    x = inner(x)\nreturn x",
    "x = self.lin(x)\nfor i, (one, other) in enumerate(self.pairs):\n    x = one(x) + other(x)\nreturn x",
    "if len(x.shape) == 2:\n    y = self.lin(x)\nelif len(x.shape) == 3:\n    y = self.act(x)\nreturn y",
    "return self.maybe(self.lin(x))",
    "return shifted(self.lin(x), 2)",
    "return self.helped(x)",
    "return self.inner(x)",
    "return self.norm(x) if self.norm is not None else self.lin(x)",
    "if self.mask is not None:\n    x = x + 1\nreturn self.lin(x).masked_fill(x == 0, 0.0)",
)
_LAYERS = """\
self.lin = nn.Linear(2, 2)
self.act = nn.GELU()
self.net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
self.fn = fn(2)
self.maybe = nn.Dropout(0.1) if dim else nn.Identity()
self.norm = nn.LayerNorm(2) if dim else None
self.inner = Inner()
self.blocks = nn.ModuleList([Inner() for _ in range(2)])
self.pairs = nn.ModuleList()
for _ in range(2):
    self.pairs.append(nn.ModuleList([Inner(), nn.Linear(2, 2)]))
self.grown = nn.ModuleList([Inner() for _ in range(2)])
self.register_buffer("mask", None)"""
_AROUND = """

class Inner(Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2)

    def forward(self, x) -> Tensor:
        return self.proj(x)


class Unsure(Module):
    def forward(self, x):
        return x


def shifted(x, by):
    x = x.view(2, -1)
    return torch.roll(x, by)
"""
_METHODS = """

def helped(self, x):
    return self.lin(x)

def grow(self, other):
    self.grown.append(other)
"""


def _with_forward(body: str, arguments: str = "self, x") -> str:
    forward = f"def forward({arguments}):\n{indent(body, '    ')}{_METHODS}"
    return _body(_LAYERS, forward, above="mask: Tensor | None\n\n") + _AROUND


@pytest.mark.parametrize("body", PROVEN)
def test_a_result_that_the_text_proves_is_annotated(body: str) -> None:
    before = _with_forward(body)
    after = before.replace("def forward(self, x):", "def forward(self, x) -> Tensor:", 1)
    assert adopted(before, Level.ANNOTATE) == after
    assert adopted(after, Level.ANNOTATE) == after


def test_a_module_whose_result_is_proven_in_the_same_run_proves_that_of_another() -> None:
    before = _with_forward("return self.inner(x)").replace("(self, x) -> Tensor", "(self, x)")
    assert adopted(before, Level.ANNOTATE).count("(self, x) -> Tensor") == 2


def test_an_argument_that_is_annotated_as_a_tensor_is_one() -> None:
    before = _with_forward("x = x * 2\nreturn x if flag else -x", "self, x: Tensor, flag=True")
    assert adopted(before, Level.ANNOTATE) == before.replace("flag=True):", "flag=True) -> Tensor:")


def test_a_function_in_a_file_without_classes_proves_a_result() -> None:
    model = _HEAD.replace("import torch\n", "import torch\nfrom tools import shifted\n") + indent(
        "def forward(self, x: Tensor):\n    return shifted(x)\n", "    "
    )
    tools = (
        "# one more line\n" * 90 + "import torch\n\n\ndef shifted(x: torch.Tensor) -> torch.Tensor:\n    return x + 1\n"
    )
    texts = outcome({"model.py": model, "tools.py": tools}, Level.ANNOTATE).texts
    assert b"def forward(self, x: Tensor) -> Tensor:" in texts["model.py"]


UNPROVEN = {
    "a parameter": "return x",
    "something unknown": "return self.fn(x)",
    "an expression that is too long to follow": f"return F.relu(x){' + F.relu(x)' * 900}",
    "indices too": "return F.max_pool2d(x, 2, return_indices=True)",
    "nothing at the end": "if x: return F.relu(x)",
    "a variable with two values": "y = F.relu(x)\nif x: y = None\nreturn y",
    "an operator that the other side may define": "return F.relu(x) @ x",
    "a generator": "yield x\nreturn F.relu(x)",
    "a function of that name is given": "return F.relu(x)",
    "a loop without a turn": "for inner in self.blocks:\n    x = inner(x)\nreturn x",
    "a list that another method extends": "x = self.lin(x)\nfor inner in self.grown:\n    x = inner(x)\nreturn x",
    "a layer that passes on what it is given": "return self.maybe(x)",
    "a module that returns what it is given": "return Unsure()(x)",
    "a function that returns a shape": "return self.lin(x).size()",
    "a sequence of tensors": "return self.lin(x).chunk(2)",
    "a tuple": "return self.lin(x), x",
    "an error that is caught": "y = x\ntry:\n    y = self.lin(x)\nexcept ValueError:\n    pass\nreturn y",
    "a context that may swallow an error": "y = x\nwith quiet():\n    y = self.lin(x)\nreturn y",
    "an argument that is taken in one branch only": "y = x\nif self.mask is None:\n    y = self.lin(x)\nreturn y",
    "a value that a break leaves": "y = x\nwhile y:\n    if y.sum(): break\n    y = self.lin(y)\nreturn y",
    "an import of that name": "from other import relu as F\nreturn F(x)",
    "an attribute that may be None": "return self.mask",
    "a value that a nested function sets": "y = self.lin(x)\ndef f():\n    nonlocal y\n    y = None\nf()\nreturn y",
}


@pytest.mark.parametrize("body", UNPROVEN.values(), ids=UNPROVEN)
def test_a_result_that_is_not_proven_is_left(body: str) -> None:
    parameters = "self, F, x" if body == UNPROVEN["a function of that name is given"] else "self, x"
    before = _with_forward(body, parameters)
    assert adopted(before, Level.ANNOTATE) == before


def test_a_layer_that_another_method_or_a_subclass_replaces_proves_nothing() -> None:
    before = _body("self.lin = nn.Linear(2, 2)", "def forward(self, x):\n    return self.lin(x)")
    replaced = f"{before}\n    def swap(self, other):\n        self.lin = other\n"
    derived = (
        f"{before}\n\nclass B(A):\n    def __init__(self):\n        super().__init__(2)\n        self.lin = None\n"
    )
    assert adopted(replaced, Level.ANNOTATE) == replaced
    assert adopted(derived, Level.ANNOTATE) == derived


_ACTORS = """\
from typing import Optional, Tuple, Union

from qten_gen import Module
from torch import Tensor

Observation = Union[Tensor, dict[str, Tensor]]


"""
_UNCHECKED = "    __call__: ClassVar[Any]  # type: ignore[misc]\n"


def _actor(*methods: str) -> str:
    return f"class Actor(Module):\n{''.join(f'    def {each}{chr(10)}' for each in methods)}"


CONTRADICTED = {
    "forward returns 3 values, and its annotation says 2": (
        "forward(self, x) -> Tuple[Tensor, Tensor]: return x, x, x",
    ),
    "act takes obs as a dict too": ("forward(self, obs: Tensor): pass", "act(self, obs: Observation): pass"),
}


@pytest.mark.parametrize(("why", "methods"), CONTRADICTED.items(), ids=CONTRADICTED)
def test_calls_stay_unchecked_where_the_project_contradicts_forward(why: str, methods: tuple[str, ...]) -> None:
    before = _ACTORS + _actor(*methods)
    found = outcome({"model.py": before}, Level.ANNOTATE)
    after = found.texts["model.py"].decode()
    assert found.adoptions[0].done == ((Level.ANNOTATE, f"leave its calls unchecked, because {why}"),)
    assert "from typing import Any, ClassVar, Optional" in after
    assert f"class Actor(Module):\n{_UNCHECKED}" in after
    assert adopted(after, Level.ANNOTATE) == after


@pytest.mark.parametrize(
    "methods",
    [
        ("forward(self, x) -> Tuple[Tensor, ...]: return x, x, x",),
        ("forward(self, x) -> Tuple[Tensor, Tensor]: return x, *x",),
        ("forward(self, obs: Tensor): pass", "act(self, obs: Optional[Tensor]): self(obs)"),
        ("forward(self, obs: Observation): pass", "act(self, obs: Observation): self(obs)"),
    ],
)
def test_other_calls_are_checked(methods: tuple[str, ...]) -> None:
    before = _ACTORS + _actor(*methods)
    assert adopted(before, Level.ANNOTATE) == before


def test_an_heir_of_a_class_with_unchecked_calls_says_nothing() -> None:
    actor = _actor(*CONTRADICTED["act takes obs as a dict too"])
    heir = actor.replace("Actor(Module)", "Fast(Actor)")
    assert adopted(f"{_ACTORS}{actor}\n\n{heir}", Level.ANNOTATE).count(_UNCHECKED) == 1
