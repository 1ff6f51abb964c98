"""When a submodule without `reset_parameters` is reported, and when it is not."""

from __future__ import annotations

import pytest

from qten_gen.generate.plan import plan
from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read.module import read

FILE = """
import torch
from qten_gen import Module, ModuleList, submodule
from torch import Tensor, nn
from elsewhere import Unknown


class Scale(BASES):
    def __init__(self, dim: int) -> None:
        super().__init__()
        INIT

    def forward(self, x: Tensor) -> Tensor:
        return x
    METHODS


class Net(Module):
    dim: int
    norm: TYPE = submodule(Scale, "dim"OPTIONS)
    OWN


def start() -> Net:
    return USE
"""


def found_in(text: str) -> tuple[Diagnostic, ...]:
    return plan({"shop/model.py": text.encode()}, {}).diagnostics


def findings(
    init: str = "self.scale = nn.Parameter(torch.ones(dim))",
    methods: str = "",
    own: str = "",
    use: str = 'Net.on_meta(3).materialize("cpu")',
    bases: str = "nn.Module",
    type: str = "Scale",
    options: str = "",
) -> list[str]:
    text = FILE.replace("INIT", init).replace("METHODS", methods).replace("OWN", own).replace("USE", use)
    text = text.replace("BASES", bases).replace("TYPE", type).replace("OPTIONS", options)
    return [f"{found.code} {found.message}; {found.help}" for found in found_in(text)]


EXPECTED = (
    "QG317 materialize() cannot initialise scale of norm: Scale has no reset_parameters;"
    " define reset_parameters in Scale, or one in Net that fills self.norm.scale"
)


def test_a_parameter_is_reported() -> None:
    assert findings() == [EXPECTED]


@pytest.mark.parametrize(
    "init",
    [
        'self.register_buffer("scale", torch.ones(dim), persistent=False)',
        'self.register_parameter("scale", nn.Parameter(torch.ones(dim)))',
        "self.scale: nn.Parameter = nn.Parameter(torch.ones(dim))",
        "if dim > 1:\n            self.scale = nn.Parameter(torch.ones(dim))",
    ],
)
def test_every_way_to_register_is_seen(init: str) -> None:
    assert findings(init) == [EXPECTED]


def test_a_list_of_them_is_reported() -> None:
    assert findings(type="ModuleList[Scale]", options=", repeat=2") == [EXPECTED]


@pytest.mark.parametrize(
    "changes",
    [
        {"use": "Net(3)"},
        {"methods": "\n    def reset_parameters(self) -> None:\n        nn.init.ones_(self.scale)"},
        {"methods": "\n    def _reset_parameters(self) -> None:\n        nn.init.ones_(self.scale)"},
        {"own": "\n    def reset_parameters(self) -> None:\n        nn.init.ones_(self.norm.scale)"},
        {"init": "self.inner = nn.Linear(dim, dim)"},
        {"init": 'self.register_buffer("scale", None)'},
        {"init": "self.scale = torch.ones(dim)"},
        {"init": "scale = nn.Parameter(torch.ones(dim))"},
        {"bases": "Unknown"},
        {"bases": "Unknown, nn.Module"},
        {"bases": "nn.Linear"},
    ],
    ids=str,
)
def test_what_may_be_initialised_is_not_reported(changes: dict[str, str]) -> None:
    assert findings(**changes) == []


def test_a_base_that_is_known_counts() -> None:
    inherits = "\n\nclass Wide(Scale):\n    pass\n"
    text = FILE.replace("INIT", "self.scale = nn.Parameter(torch.ones(dim))").replace("BASES", "nn.Module")
    text = text.replace("    METHODS", inherits).replace("OWN", "").replace("OPTIONS", "").replace("TYPE", "Wide")
    text = text.replace("submodule(Scale", "submodule(Wide").replace("USE", "Net.on_meta(3)")
    assert [found.message for found in found_in(text)] == [
        "materialize() cannot initialise scale of norm: Wide has no reset_parameters"
    ]


def test_the_reader_notes_what_an_init_registers() -> None:
    text = """
from torch import nn

class Scale(nn.Module):
    def __init__(self, x):
        self.a = nn.Parameter(x); self.register_buffer("b", x)

    def forward(self, x):
        self.c = nn.Parameter(x)
"""
    source, _ = read(text.encode(), "net.py", "net")
    assert [registered.name for registered in source.classes[0].registers] == ["a", "b"]
    assert not source.materializes
