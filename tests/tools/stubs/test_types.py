"""What mypy and pyright say of a program, with the stubs of torch.nn and without any plugin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .planned import torch_nn

PROGRAM = """
from __future__ import annotations
from typing import TYPE_CHECKING, Any
import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from torch.optim import SGD
from torch.utils.data import DataLoader

class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.norm = nn.Sequential(nn.LayerNorm(2), nn.GELU())

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)

class Scaled(nn.Linear):
    def forward(self, input: Tensor, times: int = 2) -> Tensor:
        return functional.linear(input, self.weight) * times

def first(layers: nn.ModuleList[nn.Linear], others: nn.ModuleList) -> nn.Linear:
    return layers[0]

def use(undescribed: nn.ModuleList, stages: nn.Sequential, named: nn.ModuleDict) -> None:
    for stage in [*undescribed, *stages, *named.values(), undescribed[0], stages[0], named["a"]]:
        stage.checkpointing = True
        stage.blocks[0].reset(2)

def hook(module: nn.Linear, args: tuple[Any, ...], result: Tensor) -> None: ...

x = torch.ones(2, 2)
if TYPE_CHECKING:
    reveal_type(nn.Linear(2, 2)(x))  # Tensor
    reveal_type(nn.BatchNorm2d(2).running_mean)  # Tensor | None
    reveal_type(nn.LSTM(2, 2)(x))  # tuple[Tensor, tuple[Tensor, Tensor]]
    reveal_type(nn.MultiheadAttention(2, 1)(x, x, x))  # tuple[Tensor, Tensor | None]
    reveal_type(nn.ModuleList([nn.Linear(2, 2)])[0])  # Linear
    reveal_type(nn.ModuleDict({"a": nn.Linear(2, 2)})["a"])  # Linear
    reveal_type(nn.ModuleList())  # ModuleList[Any]
    reveal_type(nn.Sequential(nn.ReLU())[0])  # Any
    reveal_type(nn.Sequential(nn.Linear(2, 2), nn.ReLU())(x))  # Tensor
    reveal_type(Scaled(2, 2)(x, times=3))  # Tensor
    reveal_type(functional.relu(x))  # Tensor
    reveal_type(SGD)  # SGD
    reveal_type(fx.Graph())  # Graph
    reveal_type(torch.optim.SGD)  # SGD
    nn.Linear(2, 2)("x")  # error
    nn.Linear(2, 2)(x, x)  # error
    Scaled(2, 2)(x, "x")  # error
    nn.Linear(2, 2).register_forward_hook(hook)
    nn.ReLU().register_forward_hook(hook)  # error
    first(nn.ModuleList([nn.ReLU()]), nn.ModuleList())  # error
    results: list[Tensor] = nn.Linear(2, 2)(x)  # error
"""


def last_names(type: str) -> str:
    """A type as a checker prints it, without the modules of its names; of a class, its name alone."""
    type = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", type.replace("*", ""))
    return re.sub(r"^type\[(\w+)\]$|^def .*-> (\w+)$", r"\1\2", type)


def folder_with_stubs(folder: Path) -> Path:
    for path, text in torch_nn().texts.items():
        target = folder / "typings" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (folder / "use.py").write_text(PROGRAM.lstrip("\n"), encoding="utf-8")
    return folder


def check(folder: Path, *command: str) -> str:
    environment = {**os.environ, "MYPY_FORCE_COLOR": "0", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    return run.stdout + run.stderr


def expected() -> tuple[dict[int, str], set[int]]:
    lines = dict(enumerate(PROGRAM.lstrip("\n").splitlines(), 1))
    types = {n: line.rpartition("# ")[2] for n, line in lines.items() if "reveal_type" in line}
    return types, {n for n, line in lines.items() if line.endswith("# error")}


@pytest.mark.long(20)
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_see_the_types_and_the_mistakes(checker: str, tmp_path: Path) -> None:
    folder = folder_with_stubs(tmp_path)
    if checker == "mypy":
        (folder / "mypy.ini").write_text("[mypy]\nstrict = true\nmypy_path = typings\n")
        out = check(folder, "mypy", "--cache-dir", str(tmp_path / "cache"), "use.py")
    else:
        (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
        out = check(folder, "pyright", "--pythonpath", sys.executable, "use.py")
    revealed = re.findall(
        r'use\.py:(\d+)(?::\d+ -)?:? (?:note|information): (?:Revealed type|Type of .*) is "(.*)"', out
    )
    types, mistakes = expected()
    assert {int(line): last_names(type) for line, type in revealed} == types
    # The program overrides forward with one parameter more, which has a default.
    assert {int(line) for line in re.findall(r"use\.py:(\d+)(?::\d+ -)?:? error", out)} == mistakes
    assert "typings/" not in out
    if checker == "mypy":
        # The mistake is what is assigned, not the call: mypy does not look for a `forward` of the type on the left.
        (said,) = [line for line in out.splitlines() if line.startswith(f"use.py:{max(mistakes)}:")]
        assert said.endswith("[assignment]")
