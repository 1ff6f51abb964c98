"""A class statement that is read outright: what it says later, and what makes it stale."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

import pytest

from qten_gen import StaleWarning
from qten_gen.cli.command import main
from qten_gen.common.python_text import is_plain
from qten_gen.model import fingerprint
from tests.outright import compared

HEAD = """\
from __future__ import annotations
import torch
from enum import Enum
from torch import Tensor, nn
from qten_gen import Module, PerItem, TensorClass, Unbatched, buffer, check, choice, derived, field, param, submodule, virtual
from kinds_of_names import Value
"""
BATCH = "class Batch(TensorClass):\n    x: Tensor\n    y: Value | None = None\n    z: str = 'train'\n"
NET = """\
class Net(Module):
    dim: int
    rate: float = 0.5
    half_dim: int = derived("dim // 2")
    check("dim % 2 == 0")
    weight: nn.Parameter = param("2*dim", "half_dim", initializer=nn.init.ones_)
    scale: Tensor = buffer("dim", persistent=False, initializer=nn.init.zeros_)
    inner: nn.Linear = submodule(nn.Linear, "dim", 3, bias=False)
    drop: nn.Dropout | nn.Identity = submodule(choice("rate > 0", {True: nn.Dropout, False: nn.Identity}), "rate")
    @virtual(cached=True)
    def mask(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim, dtype=dtype, device=device)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules that can be imported, for one test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "kinds_of_names.py").write_text("from torch import Tensor as Value\n")
    return tmp_path


def _generate(folder: Path, text: str) -> None:
    (folder / "outright_model.py").write_text(text)
    assert main(["--quiet", "."]) == 0


def _imported() -> tuple[ModuleType, list[str], list[str]]:
    """The module, the classes in it that were read outright, and the warnings about stale ones."""
    for name in ("outright_model", "outright_model_qten", "kinds_of_names"):
        sys.modules.pop(name, None)
    invalidate_caches()
    differences: list[str] = []
    with warnings.catch_warnings(record=True) as caught, compared(differences) as found:
        warnings.simplefilter("always")
        module = import_module("outright_model")
    assert differences == []
    return module, found, [str(item.message) for item in caught if item.category is StaleWarning]


def test_the_declaration_that_is_read_later_is_what_the_names_meant_when_the_statement_ran(folder: Path) -> None:
    _generate(folder, HEAD + BATCH)
    (folder / "outright_model.py").write_text(HEAD + BATCH + "Tensor = Value = str\n")
    module, found, stale = _imported()
    assert (found, stale) == (["outright_model.Batch"], [])
    assert fingerprint(module.Batch._declaration) == module.Batch._fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x: Tensor", "x: Tensor | None"),
        ("x: Tensor", "x: list[Tensor]"),
        ("x: Tensor", "x: Unbatched[Tensor]"),
        ("x: Tensor", "x: PerItem[str]"),
        ("x: Tensor", "w: Tensor"),
        ("Value | None", "str | None"),
        ("'train'", "'test'"),
        ("'train'", "field(default='train', kw_only=True)"),
        ("z: str = 'train'", "z: bool = True"),
        ("(TensorClass)", "(TensorClass, frozen=True)"),
        ("(TensorClass)", "(TensorClass, nocast=True)"),
        ("(TensorClass)", "(TensorClass, checks='off')"),
        ("    z: str = 'train'\n", "    z: str = 'train'\n    def __post_init__(self) -> None: ...\n"),
        ("dim: int", "dim: int = 2"),
        ("0.5", "0.25"),
        ("dim // 2", "dim // 1"),
        ("dim % 2 == 0", "dim % 2 < 1"),
        ('    check("dim % 2 == 0")\n', ""),
        ("2*dim", "dim*2"),
        ("nn.init.ones_", "nn.init.zeros_"),
        (", initializer=nn.init.ones_)", ", initializer=nn.init.ones_, requires_grad=False)"),
        ("persistent=False, ", ""),
        ("nn.Linear, ", "nn.Bilinear, 2, "),
        ("bias=False", "bias=True"),
        ("rate > 0", "rate > 1"),
        ('choice("rate > 0", {True: nn.Dropout, False: nn.Identity})', "nn.Dropout"),
        ('"dim", 3', '"dim", 4'),
        ("@virtual(cached=True)", "@virtual"),
        ("@virtual(cached=True)", "@virtual(cached=True, cast=True)"),
        ("    @virtual", "    def reset_parameters(self) -> None: ...\n    @virtual"),
    ],
)
def test_a_changed_declaration_is_stale(folder: Path, old: str, new: str) -> None:
    _generate(folder, HEAD + BATCH + NET)
    assert (HEAD + BATCH + NET).count(old) >= 1
    (folder / "outright_model.py").write_text(HEAD + (BATCH + NET).replace(old, new, 1))
    _, _, stale = _imported()
    assert len(stale) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x: Tensor", "x: Tensor  # a comment"),
        ("2*dim", "2 * dim"),
        ("dim // 2", "(dim // 2)"),
        ("torch.ones(self.dim, ", "2 * torch.ones(self.dim, "),
        ("'train'", "'tr' + 'ain'"),
        ("False: nn.Identity", "False: nn.Flatten"),
    ],
)
def test_a_declaration_that_says_the_same_is_fresh_and_read_outright(folder: Path, old: str, new: str) -> None:
    _generate(folder, HEAD + BATCH + NET)
    (folder / "outright_model.py").write_text(HEAD + (BATCH + NET).replace(old, new, 1))
    _, found, stale = _imported()
    assert (found, stale) == (["outright_model.Batch", "outright_model.Net"], [])


@pytest.mark.parametrize(
    "text", ["dim # half", "0x10", "dim, dim", "x[dim, dim]", "1_000", "d\u0131m", "dim\\n", "'dim'", "dim" * 34]
)
def test_an_expression_that_python_may_read_otherwise_is_left_to_the_generator(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize("text", ["3*dim", "max(dim, 64)", "config.widths[index + 1]", "(dim, dim)", "not config.tied"])
def test_a_usual_expression_is_read_outright(text: str) -> None:
    assert is_plain(text)
