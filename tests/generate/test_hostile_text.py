"""Whatever text stands in the strings of a source, the generated files hold declarations and nothing else."""

from __future__ import annotations

import pytest

from qten_gen.generate.plan import Plan, plan

from .hostile import HOSTILE, assert_only_declares

IMPORTS = """
from typing import Annotated, Callable, ClassVar, Generic, Literal, Optional, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from qten_gen import (
    Module, ModuleDict, ModuleList, PerItem, TensorClass, Unbatched, buffer, check, derived, field, param, submodule, virtual
)
"""

BATCH = "class Batch(TensorClass):\n    tokens: Tensor\n"
NET = "class Net(Module):\n    dim: int\n"
MIXED = "class Net(Mixin, Module):\n    dim: int\n"
GENERIC = "class Some(TensorClass, Generic[T]):\n    x: Tensor\n    m: T\n"
LINEAR = 'submodule(nn.Linear, "dim", "dim"'

PLACES = {
    "type of a field": ("class Batch(TensorClass):\n    tokens: {}\n", "Tensor"),
    "type in a type": (f"{BATCH}    named: dict[str, {{}}] | None = None\n", "Tensor"),
    "type in an Optional": (f"{BATCH}    a: Optional[{{}}] = None\n", "str"),
    "type in a Callable": (f"{BATCH}    a: Callable[[{{}}], int] | None = None\n", "str"),
    "type in Annotated": (f"{BATCH}    a: Annotated[{{}}, 'x']\n", "Tensor"),
    "note in Annotated": (f"{BATCH}    a: Annotated[Tensor, {{}}]\n", "x"),
    "type in PerItem": (f"{BATCH}    a: PerItem[{{}}]\n", "str"),
    "type in Unbatched": (f"{BATCH}    a: Unbatched[{{}}]\n", "Tensor"),
    "annotation of a class variable": (f"{BATCH}    a: ClassVar[{{}}] = 3\n", "int"),
    "alias of a type": (f"Kind = {{}}\n{BATCH}    a: Kind\n", "Tensor"),
    "bound of a type variable": (f"T = TypeVar('T', bound={{}})\n{GENERIC}", "int"),
    "constraint of a type variable": (f"T = TypeVar('T', int, {{}})\n{GENERIC}", "str"),
    "argument of a base": (f"T = TypeVar('T')\n{GENERIC}class Of(Some[{{}}]):\n    y: Tensor\n", "str"),
    "flag": ("class Batch(TensorClass[{}]):\n    tokens: Tensor\n", "frozen"),
    "slot": ("class Batch(TensorClass):\n    __slots__ = ({},)\n    tokens: Tensor\n", "extra"),
    "exported name": (f"__all__ = [{{}}]\n{BATCH}", "Batch"),
    "shape": (f"{BATCH}    x: Float[Tensor, {{}}]\n", "*batch 3"),
    "literal": (f"{BATCH}    kind: Literal[{{}}]\n", "a"),
    "default": (f"{BATCH}    mode: str = {{}}\n", "train"),
    "documentation of a class": ("class Batch(TensorClass):\n    {}\n    tokens: Tensor\n", "A batch."),
    "documentation of a field": (f"{BATCH}    {{}}\n", "The tokens."),
    "type of a parameter of a method": (f"{BATCH}    def f(self, x: {{}}) -> int: return 1\n", "int"),
    "default of a parameter of a method": (f"{BATCH}    def f(self, x: str = {{}}) -> int: return 1\n", "a"),
    "result of a method": (f"{BATCH}    def f(self) -> {{}}: return 1\n", "int"),
    "documentation of a method": (f"{BATCH}    def f(self) -> int:\n        {{}}\n        return 1\n", "Counts."),
    "type of an argument": ("class Net(Module):\n    dim: {}\n", "int"),
    "default of an argument": (f"{NET}    name: str = {{}}\n", "a"),
    "alias": (f"{NET}    other: int = field(default=1, alias={{}})\n", "another"),
    "type of a parameter": (f"{NET}    weight: {{}} = param('dim', initializer=nn.init.zeros_)\n", "nn.Parameter"),
    "size of a parameter": (f"{NET}    weight: nn.Parameter = param({{}}, initializer=nn.init.zeros_)\n", "3*dim"),
    "constant size of a parameter": (
        f"SIZE = {{}}\n{NET}    weight: nn.Parameter = param(SIZE, initializer=nn.init.zeros_)\n",
        "3*dim",
    ),
    "group of a parameter": (
        f"{NET}    weight: nn.Parameter = param('dim', initializer=nn.init.zeros_, group={{}})\n",
        "decay",
    ),
    "initializer": (
        f"{NET}    weight: nn.Parameter = param('dim', initializer={{}})\n    def start(self, x: Tensor) -> None: ...\n",
        "start",
    ),
    "tie": (
        f"{NET}    a: nn.Parameter = param('dim', initializer=nn.init.zeros_)\n    b: nn.Parameter = param(tie={{}})\n",
        "a",
    ),
    "value": (f"{NET}    weight: nn.Parameter = param(value={{}})\n    def start(self) -> Tensor: ...\n", "start"),
    "initializer of a class with a base from elsewhere": (
        f"from elsewhere import Mixin\n{MIXED}    weight: nn.Parameter = param('dim', initializer={{}})\n",
        "start",
    ),
    "tie into a class from elsewhere": (
        f"from elsewhere import Mixin\n{NET}    part: Mixin = submodule(Mixin)\n    b: nn.Parameter = param(tie={{}})\n",
        "part.weight",
    ),
    "name that a constructor registers": (
        "class Net(Module):\n    def __init__(self) -> None:\n        super().__init__()\n"
        "        self.register_buffer({0}, torch.ones(3))\n        self.add_module({0} + 's', nn.Identity())\n",
        "table",
    ),
    "type of a buffer": (f"{NET}    table: {{}} = buffer('dim', initializer=nn.init.zeros_)\n", "Tensor"),
    "type of a child": (f"{NET}    linear: {{}} = {LINEAR})\n", "nn.Linear"),
    "argument of a child": (f"{NET}    linear: nn.Linear = submodule(nn.Linear, 'dim', {{}})\n", "4*dim"),
    "condition of a child": (f"{NET}    linear: nn.Linear | None = {LINEAR}, when={{}})\n", "dim > 2"),
    "type of repeated children": (f"{NET}    layers: ModuleList[{{}}] = {LINEAR}, repeat=3)\n", "nn.Linear"),
    "number of repeated children": (f"{NET}    layers: ModuleList[nn.Linear] = {LINEAR}, repeat={{}})\n", "dim"),
    "key of children": (f"{NET}    heads: ModuleDict[nn.Linear] = {LINEAR}, keys=({{}},))\n", "left"),
    "derived value": (f"{NET}    size: int = derived({{}})\n", "dim // 2"),
    "result of a virtual tensor": (
        f"{NET}    @virtual\n    def v(self, dtype: torch.dtype, device: torch.device) -> {{}}: ...\n",
        "Tensor",
    ),
    "annotation in a virtual tensor": (
        f"{NET}    @virtual\n    def v(self, dtype: {{}}, device: torch.device) -> Tensor: ...\n",
        "torch.dtype",
    ),
    "documentation of a virtual tensor": (
        f"{NET}    @virtual\n    def v(self, dtype: torch.dtype, device: torch.device) -> Tensor:\n        {{}}\n",
        "A tensor.",
    ),
    "type of an argument of forward": (f"{NET}    def forward(self, x: {{}}) -> Tensor: ...\n", "Tensor"),
    "type inside an argument of forward": (f"{NET}    def forward(self, x: list[{{}}]) -> Tensor: ...\n", "Tensor"),
    "type of an argument of forward beside handlers": (
        f"{NET}    def forward(self, x: {{}}, *, scale: float = 1.0) -> Tensor: ...\n"
        f"@Net.register(str)\ndef h(net: Net, x: str) -> str: ...\n",
        "Tensor",
    ),
    "result of forward": (f"{NET}    def forward(self, x: Tensor) -> {{}}: ...\n", "Tensor"),
    "result of a handler": (
        f"{BATCH}{NET}@Net.register(Batch)\ndef h(net: Net, batch: Batch) -> {{}}: ...\n",
        "Tensor",
    ),
    "annotation of what a handler takes": (f"{NET}@Net.register\ndef h(net: Net, x: {{}}) -> str: ...\n", "str"),
    "annotation of an option of a handler": (
        f"{NET}@Net.register(str)\ndef h(net: Net, x: str, y: {{}} = 3) -> str: ...\n",
        "int",
    ),
    "type that a handler is registered for": (
        f"{NET}@Net.register({{}})\ndef h(net: Net, x: str) -> str: ...\n",
        "str",
    ),
    "default of a handler": (
        f"{BATCH}{NET}@Net.register(Batch)\ndef h(net: Net, batch: Batch, mode: str = {{}}) -> Tensor: ...\n",
        "a",
    ),
}
"""Places where a source may have a string: the file, and a string that fits there."""


def planned(place: str, text: str) -> Plan:
    """The plan for a file with a string in a place."""
    source = IMPORTS + PLACES[place][0].format(repr(text))
    return plan({"model.py": source.encode("utf-8", "surrogatepass")}, {})


@pytest.mark.parametrize("place", PLACES)
def test_a_string_that_fits_is_generated(place: str) -> None:
    made = planned(place, PLACES[place][1])
    assert sorted(made.outputs) == ["model_qten.py", "model_qten.pyi"], made.diagnostics
    assert_only_declares(made)


@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_string_is_refused_or_stays_a_string(place: str) -> None:
    for hostile in HOSTILE:
        assert_only_declares(planned(place, hostile))


HALF_TYPED = [
    place for place in PLACES if place.startswith(("type of a", "result of a virtual")) and "method" not in place
]


@pytest.mark.parametrize("place", [place for place in HALF_TYPED if "forward" not in place])
@pytest.mark.parametrize("text", ["nn.Linear |", "int:\n print(1)\n x: int"])
def test_a_type_that_is_no_expression_is_reported_where_it_stands(place: str, text: str) -> None:
    made = planned(place, text)
    assert [found.kind.code for found in made.diagnostics] == ["QG208"]
    assert not made.outputs


@pytest.mark.parametrize("place", HALF_TYPED)
def test_a_comment_in_a_quoted_type_is_left_out(place: str) -> None:
    made = planned(place, f"{PLACES[place][1]}  # of ids")
    assert made.outputs and not any("# of ids" in (text or "") for text in made.outputs.values())
