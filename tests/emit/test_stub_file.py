"""Which classes have a statement in a stub, and what it says; all others are those of the declaration."""

from __future__ import annotations

import ast

import pytest

from qten_gen.generate.outputs import render
from tests.emit.declared import linked

SPECIFIERS = "from typing import Generic, TypeVar, final\nfrom qten_gen import ModuleList, submodule\n"
HANDLER = "@Net.register(str)\ndef _(net: Net, text: str) -> int: ...\n"
NET = f"class Net(Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n{HANDLER}"


def stub(text: str, **files: str) -> str:
    """The stub of `shop/model.py`, without its header."""
    found = render(linked(shop__model=SPECIFIERS + text, **files)["shop.model"])["pyi"]
    ast.parse(found)
    return found


def statement(text: str, name: str) -> list[str]:
    """The lines of a class statement, without its docstring; none where there is no statement."""
    lines = stub(text).splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith(f"class {name}")), None)
    if start is None:
        return []
    body = [line.strip() for line in lines[start + 2 :]]
    return [lines[start], *body[: body.index("")]] if "" in body else [lines[start], *body]


def test_a_class_of_two_tensors_is_one_line() -> None:
    text = stub("class Batch(TensorClass):\n    tokens: Tensor\n    mask: Tensor | None = None\n")
    assert text.splitlines()[2:] == [
        "# ruff: noqa",
        "# fmt: off",
        "# isort: skip_file",
        '"""The classes declared in `model.py`, as type checkers see them."""',
        "",
        "from .model import Batch as Batch",
    ]


def test_functions_and_constants_with_declared_classes_are_given_as_they_are() -> None:
    text = stub(
        "class Batch(TensorClass):\n    x: Tensor\n"
        "Batches = list[Batch]\n"
        "def make(size: int) -> Batch: ...\n"
        "def count(batches: Batches) -> int: ...\n"
        "def other(size: int) -> int: ...\n"
        "def _private(batch: Batch) -> int: ...\n"
        "EMPTY: Batch = make(0)\n"
    )
    given = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith("from .model")]
    assert given == ["Batch", "EMPTY", "count", "make"]


def test_an_import_gives_way_to_a_function_that_the_stub_gives() -> None:
    text = stub(
        "class Batch(TensorClass):\n    x: Tensor\nclass Net(Module): ...\ndef count(batch: Batch) -> int: ...\n",
        shop__kinds="class count: ...\n",
        shop__other="""
            from .kinds import count
            from .model import Net
            @Net.register(count)
            def _(net: Net, x: count) -> int: ...
            """,
    )
    lines = {line.strip() for line in text.splitlines()}
    assert {"from .model import count as count", "from .kinds import count as _count"} <= lines
    assert "def __call__(self, x: _count, /) -> int: ..." in lines


def test_handlers_make_a_statement_whose_constructor_is_that_of_the_declaration() -> None:
    assert statement(NET, "Net") == [
        "class Net(_decl.Net, init=False):",
        "@_t.overload",
        "def __call__(self, x: Tensor) -> Tensor: ...",
        "@_t.overload",
        "def __call__(self, text: str, /) -> int: ...",
    ]


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("net: Net = submodule(Net)", "net: Net = ..."),
        ("net: Net | None = None", "net: Net | None = ..."),
        ("nets: 'ModuleList[Net]' = submodule(Net, repeat=2)", "nets: ModuleList[Net] = ..."),
    ],
)
def test_what_holds_such_a_class_has_a_statement_too(field: str, line: str) -> None:
    holder = f"{NET}class Holder(Module):\n    dim: int\n    {field}\n"
    assert statement(holder, "Holder") == ["class Holder(_decl.Holder, init=False):", line]
    outer = f"{holder}class Outer(Module):\n    holder: Holder = submodule(Holder, 1)\n"
    assert statement(outer, "Outer") == ["class Outer(_decl.Outer, init=False):", "holder: Holder = ..."]


def test_two_classes_that_hold_each_other_have_statements_if_one_has_something_to_say() -> None:
    text = "class A(Module):\n    b: 'B | None' = None\nclass B(Module):\n    a: A | None = None\n"
    assert (statement(text, "A"), statement(text, "B")) == ([], [])
    text += "@B.register(str)\ndef _(b: B, text: str) -> int: ...\n"
    assert (statement(text, "A")[1], statement(text, "B")[1]) == ("b: B | None = ...", "a: A | None = ...")


def test_a_parent_with_a_statement_is_a_base_of_its_child() -> None:
    assert statement(f"{NET}class Child(Net): ...\n", "Child")[0] == "class Child(_decl.Child, Net, init=False):"


def test_a_statement_of_another_file_is_imported_from_its_stub() -> None:
    text = stub(
        "from .base import Net\nclass Holder(Module):\n    net: Net = submodule(Net)\n", shop__base=NET
    ).splitlines()
    assert {"from .base_qten import Net as _Net", "    net: _Net = ..."} <= set(text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('self.register_buffer("mask", torch.ones(2))', ["mask: _torch.Tensor = ..."]),
        (
            'mask = torch.ones(2) if self.training else None; self.register_buffer("mask", mask)',
            ["mask: _torch.Tensor | None = ..."],
        ),
        ('self.register_parameter("gain", None)', ["gain: _torch.nn.Parameter | None = ..."]),
        ('self.register_parameter("gain", nn.Parameter(torch.ones(2)))', ["gain: _torch.nn.Parameter = ..."]),
        ("self.layers = nn.ModuleList([nn.Linear(2, 2)])", ["layers: _ModuleList[nn.Linear] = ..."]),
        ("self.net = Net()", ["net: Net = ..."]),
        ("self.norm = nn.LayerNorm(2)", []),
        ("self.gain = nn.Parameter(torch.ones(2))", []),
    ],
)
def test_a_hand_written_constructor_is_told_where_a_checker_does_not_see_what_it_registers(
    line: str, said: list[str]
) -> None:
    text = f"import torch\n{NET}class Own(Module):\n    def __init__(self) -> None:\n        {line}\n"
    assert statement(text, "Own")[1:] == said


def test_a_number_is_read_as_the_tensor_that_it_becomes() -> None:
    text = "class Batch(TensorClass):\n    rate: float\n    scale: int | None = None\n    name: str = ''\n"
    assert statement(text, "Batch") == [
        "class Batch(_decl.Batch, init=False):  # pyright: ignore[reportGeneralTypeIssues]",
        "rate: _Slot[_torch.Tensor, float | _torch.Tensor] = ...",
        "scale: _Slot[_torch.Tensor | None, int | None | _torch.Tensor] = ...",
        '__match_args__ = ("rate", "scale", "name")',
    ]
    frozen = "class Batch(TensorClass, frozen=True):\n    rate: float\n"
    assert statement(frozen, "Batch")[0].startswith("class Batch(_decl.Batch, frozen=True, init=False):")
    assert statement("class Batch(TensorClass, nocast=True):\n    rate: float\n", "Batch") == []


def test_a_generic_class_stays_generic() -> None:
    text = f"""T = TypeVar("T")
class Net(Module, Generic[T]):
    def forward(self, x: Tensor) -> Tensor: ...
{HANDLER}"""
    assert statement(text, "Net")[0] == "class Net(_decl.Net[_decl.T], init=False):"


def test_a_final_class_is_derived_from_all_the_same() -> None:
    assert statement(f"@final\n{NET}", "Net")[0].endswith("  # pyright: ignore[reportGeneralTypeIssues]")
