"""A constructor that no declaration certainly says stays, and the report names the line and the reason."""

from __future__ import annotations

from textwrap import indent

import pytest

from qten_gen.tools.adopt.adoption import Level
from qten_gen.tools.adopt.views import lines_of

from ..adopted import report
from .test_shapes import adopted, declared, reason

HEAD = """import torch
from torch import nn

TABLE = {"a": nn.ReLU()}

def build(dim):
    layers = [nn.Linear(dim, dim)]
    return layers.pop()

class Net(nn.Module):
    def __init__(self, ARGUMENTS):
        super().__init__()
"""


def net(arguments: str, body: str) -> str:
    """A file with a class `Net`, whose first statement after `super().__init__()` is in line 13."""
    return HEAD.replace("ARGUMENTS", arguments) + indent(body, " " * 8) + "\n"


LOOP = "self.layers = nn.ModuleList()\nfor i in range(dim):\n"


@pytest.mark.parametrize(
    "body",
    [
        # a name keeps the value of the last round
        LOOP + "    width = dim * i\n    self.layers.append(nn.Linear(dim, width))\nself.out = nn.Linear(width, 1)",
        # the list is in another order than the draws; one module is in it twice; one is made, and left out
        LOOP + "    a = nn.Linear(dim, 1)\n    b = nn.Linear(dim, 2)\n    self.layers.append(nn.ModuleList([b, a]))",
        LOOP + "    a = nn.Linear(dim, 1)\n    self.layers.append(a)\n    self.layers.append(a)",
        LOOP + "    a = nn.Linear(dim, 1)\n    if i:\n        self.layers.append(a)",
        # one module under two names
        "if dim:\n    self.a = nn.Linear(1, 1)\n    self.b = self.a\nelse:\n    self.a = self.b = None",
        # a test that is different once its branch ran, or each time
        "hidden = dim\nif hidden < 8:\n    hidden = 9\n    more = 2\nelse:\n    more = 1\nself.a = nn.Linear(hidden, more)",
        "if torch.rand(()) < 1:\n    self.a = nn.ReLU()\n    self.b = nn.ReLU()\n"
        "else:\n    self.a = nn.Tanh()\n    self.b = nn.Tanh()",
        # an object that is used up
        "rest = [dim, 2]\nself.a = nn.Linear(rest.pop(), 1)\nself.b = nn.Linear(rest.pop(), 1)",
    ],
)
def test_what_several_statements_do_with_one_object_or_name_stays(body: str) -> None:
    lines = lines_of(adopted(net("dim: int", body)), verbose=False, color=False)
    assert any("Net keeps its __init__" in line for line in lines)


def test_an_argument_of_one_branch_is_computed_in_that_branch_alone() -> None:
    body = "self.proj = nn.Linear(cond * 2, 1) if cond is not None else nn.Identity()"
    (after,) = adopted(net("cond: int | None = None", body)).texts.values()
    assert "lambda cond: (" in after.decode() or "lambda cond: nn.Linear(cond * 2, 1) if" in after.decode()


@pytest.mark.parametrize(
    ("arguments", "body", "why"),
    [
        ("dim", "self.dim = dim", "it registers no child, parameter or buffer"),
        ("act", "self.proj = print(act)", "the argument `act` has no annotation, and nothing proves its type"),
        ("*dims: int", "self.dims = dims", "it takes any number of arguments"),
        ("dim: int, **others: int", "pass", "it takes any number of arguments"),
        (
            "encoder: nn.Module",
            "self.encoder = nn.Sequential(encoder)",
            "the argument `encoder` may be a module, and the class uses its name for something else",
        ),
        (
            "dim: int",
            "self.given_dim = self.dim_argument = 1\nself.dim = dim * 2",
            "`dim` is something other than the argument `dim`",
        ),
        (
            "norm: type[nn.Module] = nn.LayerNorm",
            "norm = TABLE[norm]\nself.norm = norm(3)",
            "line 14: `norm` is assigned before it is called",
        ),
        ("dim: int, device=None", "print(device)", "line 13: `device` is used for more than children and tensors"),
        ("dim: int, device='cpu'", "pass", "a declared constructor has an argument `device` of its own"),
        ("dim: int", "self.proj = build(dim)", "line 13: `build` is not known to be a class of modules"),
        ("dim: int", 'self.act = TABLE["a"]', "line 13: `TABLE['a']` is not the construction of a module"),
        (
            "dim: int, flag: bool",
            "if flag:\n    self.proj = nn.Linear(dim, dim)\nif hasattr(self, 'proj'):\n    pass",
            "line 13: `self.proj` exists in one branch only, where a declared field would be None",
        ),
        (
            "dim: int",
            "self.first = nn.Linear(dim, dim)\nnn.init.normal_(self.first.weight)\nself.second = nn.Linear(dim, dim)\n"
            "self.third = nn.Linear(dim, dim)\nself.fourth = nn.Linear(dim, dim)",
            "line 14: `nn.init.normal_(self.first.weight)` runs before `self.second = nn.Linear(dim, dim)` registers more",
        ),
        (
            "dim: int",
            "proj = nn.Linear(dim, dim)\nself.proj = proj\nself.again = proj",
            "line 13: the local name `proj` holds a module",
        ),
        (
            "depth: int",
            "self.layers = nn.ModuleList()\nwide = 1\nfor i in range(depth):\n    self.layers.append(nn.Linear(wide, 1))\n"
            "    wide = i",
            "line 15: a loop does more than add children to one list",
        ),
        (
            "dim: int",
            "steps = torch.arange(dim)\nself.register_buffer('a', steps)\nself.register_buffer('b', steps)",
            "line 14: the value `steps` is not made where it is registered",
        ),
        (
            "dim: int",
            "conv = nn.Linear(dim, dim)\nself.first = nn.Linear(dim, dim)\nself.net = nn.Sequential(conv)",
            "line 14: the local name `conv` holds a module",
        ),
        (
            "dim: int",
            "a = nn.Linear(dim, dim)\nb = nn.Linear(dim, dim)\nself.net = nn.Sequential(b, a)",
            "line 14: the local name `a` holds a module",
        ),
        (
            "dim: int, depth: int",
            "layers = []\nfor i in range(depth):\n    layers.append(nn.Linear(dim, 1))\n"
            "self.net = nn.Sequential(*layers)\nself.last = nn.Linear(dim, i)",
            "line 14: a loop does more than add children to one list",
        ),
        (
            "dim: int",
            "width = dim\nlayers = [nn.Linear(width, 2)]\nwidth = 2\nlayers.append(nn.Linear(width, 2))\n"
            "self.net = nn.Sequential(*layers)",
            "line 14: the local name `layers` holds a module",
        ),
        (
            "encoder: nn.Module",
            "self.body = nn.Sequential(encoder, nn.ReLU())",
            "line 13: `encoder` is not the construction",
        ),
        (
            "dim: int, encoder: nn.Module",
            "self.proj = nn.Linear(dim, dim)\nself.encoder = encoder",
            "line 14: the module `encoder` is registered after children that the constructor makes",
        ),
        (
            "b: nn.Module, a: nn.Module",
            "self.a = a\nself.b = b",
            "line 14: modules are registered in another order than that of the arguments",
        ),
        (
            "sizes: list[int]",
            "sizes[0] = 3\nself.proj = nn.Linear(sizes[0], 2)",
            "line 13: `sizes[0] = 3` may change an argument",
        ),
        (
            "sizes: list[int]",
            "self.proj = nn.Linear(2, 2)\nsizes.reverse()",
            "line 14: `sizes.reverse()` may change an argument that fields are computed from",
        ),
        (
            "dim: int",
            "flat = torch.flatten(torch.ones(dim, 2))\nflat[0] += 1\nself.register_buffer('flat', flat)",
            "line 13: the local name `flat` holds a tensor",
        ),
        (
            "sizes: list[int]",
            "table = torch.arange(sizes[0]).float()\nif sizes[0] > 0:\n    table[:] /= 2\nself.register_buffer('t', table)",
            "line 14: `if sizes[0] > 0:` may change the local name `table` that fields are computed from",
        ),
        (
            "dim: int",
            "self.proj = nn.Linear(dim, dim)\nself.proj = None",
            "line 13: `self.proj` is assigned more than once",
        ),
        (
            "nn_: int",
            "self.nn = nn.Linear(nn_, 2)",
            "line 13: the field `nn` would hide a name that constructs `nn`",
        ),
        (
            "dim: int",
            "self.__proj = nn.Linear(dim, dim)",
            "line 13: Python mangles the name `__proj`",
        ),
        (
            "dim: int",
            "self.half = nn.Linear(dim, dim)",
            "line 13: the class already uses the name `half`",
        ),
        (
            "given=[1, 2]",
            "self.proj = nn.Linear(2, 2)\nself.given = given\nself.given.append(3)",
            "the default of `given` is an object that all instances share, and the class changes it",
        ),
        (
            "act=nn.GELU()",
            "self.proj = nn.Linear(2, 2)",
            "the default of `act` is an object that all instances would share",
        ),
        (
            "dim: int",
            "x = getattr(torch, 'nothing', 3)\nx += dim\nself.proj = nn.Linear(dim, x)",
            "line 15: the argument `x` cannot be written as an expression of a declaration",
        ),
    ],
)
def test_the_report_names_the_line_in_the_file_and_the_reason(arguments: str, body: str, why: str) -> None:
    place, _, text = why.partition(": ") if why.startswith("line ") else ("line 10", "", why)
    lines = list(lines_of(adopted(net(arguments, body)), verbose=False, color=False))
    start = f"sample.py:{place.removeprefix('line ')}: Net keeps its __init__: {text}"
    assert any(line.startswith(start) for line in lines), lines


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("    def reset_parameters(self):\n        pass\n", "the class defines reset_parameters"),
        ("    size: int = 3\n", "the annotation of `size` in the class body would be an argument"),
        (
            "\nclass Sub(Net):\n    def __init__(self):\n        nn.Module.__init__(self)\n",
            "it is a base of sample.Sub",
        ),
        ("\nclass Sub(Net):\n    size: int\n", "it is a base of sample.Sub, whose constructor depends on it"),
        (
            "\nclass Sub(Net):\n    def dim(self):\n        return 3\n",
            "`dim` is something else in its subclass",
        ),
    ],
)
def test_the_rest_of_the_class_counts(more: str, why: str) -> None:
    text = net("dim: int", "self.proj = nn.Linear(dim, dim)\n") + more
    assert reason(text, "Net").startswith(why)


def test_a_class_that_the_rules_refuse_stays_with_the_finding() -> None:
    text = net("dim: int", "self.inner = Inner(dim, wide=2)").replace(
        "class Net",
        "class Inner(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
        "        self.proj = nn.Linear(dim, dim)\n\nclass Net",
    )
    assert reason(text, "Net") == "Inner has no constructor argument wide"


def test_a_base_with_a_constructor_of_its_own_is_named() -> None:
    text = net("dim: int", "self.proj = nn.Linear(dim, dim)") + (
        "\n\nclass Wide(Net):\n    def __init__(self, dim: int):\n        super().__init__(dim)\n"
        "        self.more = nn.Linear(dim, dim)\n"
    )
    assert reason(text, "Wide") == "its base Net has a constructor of its own"


def test_a_class_stays_that_a_run_would_refuse_for_the_arguments_of_a_layer_of_torch() -> None:
    text = net("dim: float", "self.shuffle = nn.Sequential(nn.PixelShuffle(dim))")
    assert reason(text, "Net") == "dim has the type float, but nn.PixelShuffle takes upscale_factor: int"


def test_the_type_of_a_size_is_proven_through_other_classes() -> None:
    text = net("dim, depth, mult=2", "hidden = dim * mult\nself.inner = Inner(hidden)\nself.n = range(depth).stop")
    text = text.replace(
        "class Net",
        "class Inner(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
        "        self.proj = nn.Linear(dim, dim)\n\nclass Net",
    )
    outcome = adopted(text)
    assert "Inner" in declared(outcome)
    (after,) = outcome.texts.values()
    assert "    dim: int\n    proj: nn.Linear" in after.decode()


def test_an_annotated_module_that_is_not_registered_stays() -> None:
    text = (
        "from torch import nn\n\n\n"
        "class Encoder(nn.Module):\n    def __init__(self, dim: int):\n        super().__init__()\n"
        "        self.proj = nn.Linear(dim, dim)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, dim: int, encoder: Encoder):\n        super().__init__()\n"
        "        self.head = nn.Linear(dim, encoder.proj.in_features)\n{0}"
    )
    assert "not registered under its own name" in reason(text.format(""), "Net")
    assert "registered after children" in reason(text.format("        self.encoder = encoder\n"), "Net")


def test_a_table_of_activations_becomes_a_function_that_makes_a_child() -> None:
    text = (
        "from torch import nn\nfrom transformers.activations import ACT2FN\n\n\n"
        "class Mlp(nn.Module):\n    def __init__(self, act: str = 'gelu'):\n        super().__init__()\n"
        "        self.fn = ACT2FN[act]\n        self.proj = nn.Linear(2, 2)\n"
    )
    (after,) = adopted(text).texts.values()
    assert 'fn: nn.Module = submodule(lambda name: ACT2FN[name], "act")' in after.decode()


@pytest.mark.parametrize(
    "statement",
    [
        "self.add_module(name, nn.ReLU())",
        "self.kept = locals()",
        "sizes.append(size)",
        "del name",
        "return self.forward(size)",
    ],
)
def test_a_constructor_stays_whose_rest_would_do_something_else_in_post_init(statement: str) -> None:
    rest = "self.proj = nn.Linear(size, size)\nnn.init.ones_(self.proj.weight)\nself.last = nn.Linear(size, size)\n"
    text = net("size: int, sizes: list[int], name: str", rest)

    assert declared(adopted(text)) == ["Net"]
    assert declared(adopted(text + indent(statement, " " * 8))) == []


@pytest.mark.parametrize(
    "rest",
    [
        "if dim > 2:\n    self.net.add_module('proj', nn.Linear(dim, 2))\n    self.net.add_module('norm', nn.LayerNorm(2))",
        "if dim > 2:\n    self.net.add_module('proj', nn.Linear(dim, 2))\nelse:\n    self.net.append(nn.Linear(dim, 2))",
        "for at in range(dim):\n    self.net.append(nn.ReLU())\n    self.net.add_module(f'proj{at}', nn.Linear(dim, 2))",
    ],
)
def test_a_constructor_that_names_members_of_a_sequence_in_a_branch_or_a_loop_stays(rest: str) -> None:
    assert declared(adopted(net("dim: int", "self.net = nn.Sequential()\n" + rest))) == []


def test_a_loop_over_pairs_of_sizes_still_becomes_members_of_a_sequence() -> None:
    rest = "self.net = nn.Sequential()\nfor a, b in ((dim, 4), (4, 8)):\n    self.net.append(nn.Linear(a, b))"
    assert declared(adopted(net("dim: int", rest))) == ["Net"]


@pytest.mark.parametrize(
    ("line", "notes"),
    [
        ("net = torch.jit.script(Net(2))", 1),
        ("from torch.jit import script", 1),
        ("net = torch.jit.trace(Net(2), x)", 0),
    ],
)
def test_a_declared_class_of_a_file_that_torchscript_reads_has_a_note(line: str, notes: int) -> None:
    text = net("dim: int", "self.linear = nn.Linear(dim, dim)") + f"\n{line}\n"
    found = report(text, Level.DECLARE)["Net"]
    assert any(level is Level.DECLARE for level, _ in found.done)
    assert sum("torch.jit.script refuses" in note for note in found.notes) == notes
