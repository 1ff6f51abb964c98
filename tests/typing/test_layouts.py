"""Ways to lay out a project, with and without `__init__.py`: each runs as a program."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from qten_gen.cli.command import main
from tests import fresh_process
from tests.typing.checked_folders import REPOSITORY

BASE = """
from torch import Tensor
from qten_gen import TensorClass

class Point(TensorClass):
    xy: Tensor
"""
MODEL = """
from torch import Tensor
from qten_gen import TensorClass
from {base} import Point

class Batch(TensorClass):
    tokens: Tensor
    at: Point

class Marked(Batch):
    mask: Tensor | None = None
"""
PROGRAM = """
import torch
from {model} import Marked
from {base} import Point

batch = Marked(torch.ones(2), Point(torch.ones(2, 2), batch_size=[2]), batch_size=[2])
print(batch[0].at.xy.shape, type(batch.at).__module__)
"""


@dataclass(frozen=True)
class Layout:
    """Where the files of a project lie, what modules are called in it, and how its program is started."""

    folder: str
    model: str
    base: str
    program: str
    path: str
    """What is on `sys.path` besides the folder of the program."""
    started_in: str = "."


LAYOUTS = {
    # A folder of scripts: nothing says where modules are imported from, and the program stands beside them.
    "scripts": Layout("scripts", "model", "base", "scripts/train.py", "scripts", "scripts"),
    # A program in the folder above, as many research repositories have it.
    "above": Layout("models", "models.model", "models.base", "train.py", "."),
    # A namespace package below `src`, imported from elsewhere, and a regular package in a namespace.
    "src": Layout("src/shop", "shop.model", "shop.base", "tools/use_shop.py", "src"),
    "nested": Layout("src/deep/shop", "deep.shop.model", "deep.shop.base", "tools/use_deep.py", "src"),
    "regular": Layout("src/plain", "plain.model", "plain.base", "tools/use_plain.py", "src"),
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).lstrip(), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All layouts in one project, generated."""
    root = tmp_path_factory.mktemp("project")
    write(root / "pyproject.toml", '[tool.qten-gen]\nsrc = ["."]\nsource-roots = [".", "scripts", "src"]\n')
    for layout in LAYOUTS.values():
        write(root / layout.folder / "base.py", BASE)
        write(root / layout.folder / "model.py", MODEL.format(base=layout.base))
        write(root / layout.program, PROGRAM.format(model=layout.model, base=layout.base))
    for package in ("src/plain", "src/deep/shop"):
        write(root / package / "__init__.py", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main([]) == 0
    return root


@pytest.mark.parametrize("name", LAYOUTS)
def test_python_imports_what_was_generated(project: Path, name: str) -> None:
    layout = LAYOUTS[name]
    paths = os.pathsep.join((str(REPOSITORY), str(project / layout.path)))
    environment = {**os.environ, "PYTHONPATH": paths, "QTEN_GEN_JIT": "off"}
    done = fresh_process.run("-W", "error", project / layout.program, cwd=project / layout.started_in, env=environment)
    assert (done.stdout, done.stderr) == (f"torch.Size([2]) {layout.base}\n", "")


def test_a_module_of_a_source_root_runs_with_python_m(project: Path) -> None:
    write(project / "src/shop/main.py", "from .model import Marked\n\nprint(Marked.__module__)\n")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "QTEN_GEN_JIT": "off"}
    done = fresh_process.run("-W", "error", "-m", "shop.main", cwd=project / "src", env=environment)
    assert (done.stdout, done.stderr) == ("shop.model\n", "")
