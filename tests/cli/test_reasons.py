"""Why files are out of date, as `--verbose` and the formats for programs say it."""

import json

import pytest

from tests.command import Command

BASE = """
from torch import Tensor
from qten_gen import TensorClass

class Base(TensorClass):
    x: Tensor
    subset: str = "train"
    mask: Tensor | None = None
"""
CHILD = """
import torch
from torch import Tensor, nn
from base import Base
from qten_gen import Module, buffer, param, submodule, virtual

class Child(Base):
    more: str = ""

class Net(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.zeros_)
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)
    head: nn.Linear = submodule(nn.Linear, "dim", 3)

    @virtual
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.dim)
"""


@pytest.fixture
def project(qten_gen: Command) -> Command:
    """A project with a base in another file, generated."""
    qten_gen.write("pyproject.toml", "")
    qten_gen.write("base.py", BASE)
    qten_gen.write("child.py", CHILD)
    assert qten_gen("-v", ".").out.splitlines()[0] == "written: base_qten.py (new)"
    return qten_gen


def told(project: Command, file: str = "child_qten.py") -> str | None:
    """The reason for one file."""
    found = json.loads(project("--check", "--output-format", "json", ".").out)["files"]
    return next((item["reason"] for item in found if item["path"] == file), None)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("dim: int", "dim: int = 4", "class Net changed"),
        ('more: str = ""', 'more: str = "x"', "class Child changed"),
        ("class Net", "class Network", "class Network added; class Net removed"),
    ],
)
def test_a_changed_class_is_named(project: Command, old: str, new: str, reason: str) -> None:
    project.write("child.py", CHILD.replace(old, new))
    assert told(project) == reason
    assert told(project, "base_qten.py") is None


def test_what_is_not_a_change_of_a_declaration_is_told_too(project: Command) -> None:
    project.write("base_qten.py", project.read("base_qten.py") + "# mine\n")
    project.write("child_qten.py", project.read("child_qten.py").replace("format=", "format=1", 1))
    (project.folder / "child_qten.pyi").unlink()
    out = project("--check", "-v", ".").out.splitlines()
    assert out[0] == "stale: base_qten.py (edited by hand, or merged)"
    assert out[1].startswith("stale: child_qten.py (written in format 1")
    assert out[2] == "missing: child_qten.pyi (new)"
    (project.folder / "child.py").unlink()
    project.write("base.py", "")
    assert told(project) == "its source is gone"
    assert told(project, "base_qten.pyi") == "its source declares nothing"


def test_github_shows_files_that_are_out_of_date_beside_their_sources(project: Command) -> None:
    project.write("base.py", BASE.replace('"train"', '"test"'))
    result = project("--check", "--output-format", "github", "base.py")
    assert result.status == 1
    assert result.out.splitlines()[0] == (
        "::error title=generated file out of date,file=base.py,line=1::base_qten.py is stale: class Base changed. "
        "Run qten-gen and commit the generated files."
    )
    assert "::error" not in project("--output-format", "github", "base.py").out


def test_a_coloured_diff_says_what_a_plain_one_says(project: Command) -> None:
    import re

    project.write("base.py", BASE.replace('"train"', '"test"'))
    plain, coloured = project("--diff", ".").out, project("--diff", "--color", "always", ".").out
    assert "\x1b[32m+" in coloured and "\x1b[1;31m-" in coloured and "\x1b[1m+++ b/" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
