"""What rules report about conditions, ties and repeated children."""

from textwrap import dedent

import pytest

from tests.rules.reported import reported

HEAD = """\
import torch
from torch import Tensor, nn
from qten_gen import Module, ModuleDict, ModuleList, buffer, param, submodule
"""
ONES = "initializer=nn.init.ones_"


def found(text: str, **others: str) -> list[str]:
    """What a run says about `shop/model.py` with this text below the usual imports, beside other files of the package."""
    return [f"{item.code} {item.message}; {item.help}" for item in reported(HEAD, text, **others)]


def module(fields: str, before: str = "", **others: str) -> list[str]:
    """What is said about a Module with some sizes and these fields."""
    lines = "\n    ".join(line.strip() for line in fields.strip().splitlines())
    sizes = "dim: int\n    depth: int\n    wide: bool\n    tasks: tuple[str, ...]"
    return found(
        f"WIDE, COUNT = torch.tensor([1, 2])\n{dedent(before)}\nclass Net(Module):\n    {sizes}\n    {lines}\n",
        **others,
    )


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (
            f'x: Tensor | None = buffer("dim", when="wdie", {ONES})',
            "QG302 there is no config field wdie; did you mean wide?",
        ),
        (
            f'x: Tensor | None = buffer("dim", when="dim", {ONES})',
            "QG302 dim is not a bool; it is int: write a comparison, such as dim > 0",
        ),
        (
            f'x: Tensor | None = buffer("dim", when=WIDE, {ONES})',
            "QG008 the argument when is known only at run time, got WIDE; write its value, or a constant that is assigned once, "
            "without a call or condition",
        ),
    ],
)
def test_a_condition_is_a_bool_of_the_constructor(field: str, expected: str) -> None:
    assert module(field) == [expected]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (
            'x: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys="task")',
            "QG310 there is no config field 'task'; did you mean tasks?",
        ),
        (
            'x: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys="dim")',
            "QG310 dim is annotated int, which cannot contain names; write dim: tuple[str, ...]",
        ),
        (
            'x: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys=("a.b",))',
            "QG310 'a.b' cannot be the name of a child; write each name once; a name cannot be empty or contain a dot",
        ),
        (
            'x: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys="tasks", repeat=2)',
            "QG310 x has both repeat and keys; keep one of them: repeat creates a ModuleList, keys a ModuleDict",
        ),
        (
            'x: ModuleList[nn.Linear] | None = submodule(nn.Linear, 1, 1, repeat=2, when="wide")',
            "QG310 x has both repeat and when; "
            "remove when; with repeat=0 or keys=() the container is empty, and index in when leaves out children",
        ),
        (
            "x: ModuleList[nn.Linear] = submodule(nn.Linear, 1, 1, repeat=COUNT)",
            "QG008 the argument repeat is known only at run time, got COUNT; "
            "write its value, or a constant that is assigned once, without a call or condition",
        ),
        (
            "x: ModuleDict[nn.Linear] = submodule(nn.Linear, 1, 1, keys=[1])",
            "QG305 keys must be a string or a tuple of strings, got [1]; "
            'write keys=("first", "second"), or keys="tasks" for a config field',
        ),
        (
            'x: ModuleList[nn.Linear] = submodule(nn.Linear, 1, 1, repeat="dept")',
            "QG302 there is no config field dept; did you mean depth?",
        ),
        (
            'x: ModuleList[nn.Linear] = submodule(nn.Linear, "indx + 1", 1, repeat=2)',
            "QG302 there is no config field indx; did you mean index? For a plain string, write const('indx + 1')",
        ),
        (
            'x: nn.Linear = submodule(nn.Linear, "index", 1)',
            "QG302 index is the position of a repeated child, but this child is not repeated; "
            'add repeat="depth", for a config field depth that says how many; or declare a config field index; '
            "for a plain string, write const('index')",
        ),
        (
            'index: int; x: ModuleList[nn.Linear] = submodule(nn.Linear, "index+1", 1, repeat=2)',
            "QG302 index is the position of each child of x, and also a config field; rename the config field",
        ),
    ],
)
def test_a_repeated_submodule_says_how_often_or_for_which_names(field: str, expected: str) -> None:
    assert module(field) == [expected]


def test_a_tie_has_no_initializer_of_its_own() -> None:
    fields = f'x: nn.Parameter = param(1, {ONES})\ny: nn.Parameter = param(tie="x", {ONES})'
    assert module(fields) == [
        "QG305 param(...) has both tie and initializer; "
        "a tied parameter is filled where the other is declared: remove initializer"
    ]


def test_a_repeated_sequence_is_no_sequential() -> None:
    before = "from qten_gen import sequential"
    field = 'body: nn.Sequential = sequential(submodule(nn.Linear, "dim", "dim"), repeat=3)'
    assert module(field, before) == [
        "QG310 body is annotated nn.Sequential, but repeat= makes a ModuleList, which cannot be called; "
        "annotate it ModuleList[nn.Sequential], or write sequential(submodule(...), ...) without repeat="
    ]
    assert module(field.replace("nn.Sequential", "ModuleList[nn.Sequential]"), before) == []


def test_a_name_of_a_module_that_nothing_binds_is_unknown_in_the_annotation_of_a_parameter() -> None:
    text = "class Net(Module):\n    weight: optim.Parameter = param(3, initializer=nn.init.ones_)\n"
    assert "QG207 optim is not defined in this file; import it, or define it in this file" in found(text)


def test_a_private_child_is_renamed_with_its_checkpoints_or_registered_in_post_init() -> None:
    assert module("_drop: nn.Dropout = submodule(nn.Dropout)") == [
        "QG205 the field _drop starts with an underscore; rename it to drop, here and in checkpoints, or register it in "
        "__post_init__"
    ]


def test_what_a_method_registers_under_another_name_is_registered() -> None:
    text = """
class Net(Module):
    def __init__(self) -> None:
        super().__init__()
        add = self.register_buffer
        self.table = torch.ones(3)
        add("table", self.table)
"""
    assert found(text) == []


def test_a_class_with_a_computed_base_and_an_init_of_its_own_is_not_suspected() -> None:
    text = """
def make() -> type: ...
Base = make()
class Net(Base):
    mask: Tensor
"""
    assert [each[:5] for each in found(text)] == ["QG008"]
    assert found(text + "    def __init__(self) -> None: ...\n") == []
