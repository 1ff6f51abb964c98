"""Every public class of torch.nn can be a base beside Module, in both orders: to checkers, and when a program runs."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import new_class
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from qten_gen import Module
from tests.typing.layers_of_torch import Row, rows

REPOSITORY = Path(__file__).parents[2]
LAYERS = sorted(
    name
    for name, cls in vars(nn).items()
    if isinstance(cls, type) and issubclass(cls, nn.Module) and cls is not nn.Module
)
ROWS = rows()

KNOWN = {
    "Embedding": "torch annotates `freeze: bool`, which no object has, and Module has a method of that name",
    "ParameterDict": "its `__call__` takes one argument, and only raises",
}
"""The layers that a checker finds fault with beside Module."""


def program(module: str) -> str:
    """Two classes for each layer, `LinearFirst` and `LinearLast`, one class in a line."""
    bases = ((name, f"nn.{name}[nn.Module]" if name == "DataParallel" else f"nn.{name}") for name in LAYERS)
    classes = (
        f"class {name}First({base}, Module): ...\nclass {name}Last(Module, {base}): ...\n" for name, base in bases
    )
    return f"from torch import nn\n{module}\n{''.join(classes)}"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classes beside Module in `mixed.py`, and beside a class without anything in `plain.py`."""
    folder = tmp_path_factory.mktemp("layers")
    (folder / "mixed.py").write_text(program("from qten_gen import Module"), encoding="utf-8")
    (folder / "plain.py").write_text(program("class Module(nn.Module): ..."), encoding="utf-8")
    return folder


@pytest.mark.xdist_group("mypy")
def test_mypy_finds_no_more_than_beside_a_plain_class(programs: Path) -> None:
    options = ("--strict", "--python-version=3.11", "--config-file=", f"--cache-dir={REPOSITORY / '.mypy_cache'}")
    said = output(programs, "mypy", *options, "mixed.py", "plain.py")
    assert "(checked 2 source files)" in said
    assert faults(said, "mixed.py") - faults(said, "plain.py") == KNOWN.keys(), said


def test_pyright_finds_no_more_than_beside_a_plain_class(programs: Path) -> None:
    said = output(programs, "pyright", "--pythonpath", sys.executable, "mixed.py", "plain.py")
    assert re.search(r"^\d+ errors", said, flags=re.MULTILINE)
    assert faults(said, "mixed.py") - faults(said, "plain.py") <= KNOWN.keys(), said


def output(folder: Path, checker: str, *arguments: str) -> str:
    """What a checker says about files of a folder."""
    environment = os.environ | {"MYPYPATH": os.pathsep.join((str(REPOSITORY / "stubs"), str(REPOSITORY)))}
    command = [sys.executable, "-m", checker, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True).stdout


def faults(said: str, name: str) -> set[str]:
    """The layers whose classes in a file an error stands at."""
    lines = program("").splitlines()
    found = re.findall(rf"\b{re.escape(name)}:(\d+):.*error", said)
    return {re.sub(r"class (\w+?)(First|Last)\(.*", r"\1", lines[int(line) - 1]) for line in found}


def test_each_layer_has_a_row() -> None:
    assert sorted(ROWS) == LAYERS


def mixed() -> Iterator[tuple[str, type[nn.Module]]]:
    for name in LAYERS:
        layer: Any = getattr(nn, name)
        yield name, new_class(f"{name}First", (layer, Module))
        yield name, new_class(f"{name}Last", (Module, layer))


@pytest.mark.filterwarnings("ignore")  # of torch, about deprecated layers
def test_each_is_constructed_and_called_as_the_layer_is() -> None:
    for name, cls in mixed():
        expected, wanted = result(getattr(nn, name), ROWS[name])
        module, found = result(cls, ROWS[name])

        assert type(module) in (cls, type(expected)), cls  # a lazy layer becomes the ordinary one
        assert list(module.state_dict()) == list(expected.state_dict()), cls
        pairs = zip(leaves(module, found), leaves(expected, wanted), strict=True)
        assert all(torch.equal(*pair) for pair in pairs), cls


def leaves(module: nn.Module, called: object) -> list[Tensor]:
    """The tensors of a state dict, and of what a call gives."""
    return [each for each in tree_leaves((module.state_dict(), called)) if isinstance(each, Tensor)]


def result(cls: Any, row: Row) -> tuple[nn.Module, object]:
    """An object made with a seed, and what calling it gives."""
    arguments, keywords, inputs = copy.deepcopy(row)
    torch.manual_seed(1)
    module = cls(*arguments, **keywords).eval()
    return module, module(*inputs) if inputs else None
