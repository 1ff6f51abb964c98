"""Ways to lay out a project, with and without `__init__.py`: each runs as a program, and both checkers see its exact types."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from qten_gen.cli.command import main
from tests import fresh_process
from tests.typing import checked_folders
from tests.typing.checked_folders import PATHS, REPOSITORY

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
from typing import TYPE_CHECKING

import torch
from {model}_qten import Marked
from {base}_qten import Point

batch = Marked(torch.ones(2), Point(torch.ones(2, 2), batch_size=[2]), batch_size=[2])
print(batch[0].at.xy.shape, type(batch.at).__module__)
if TYPE_CHECKING:
    reveal_type(batch[0].at.xy)
    reveal_type(batch.at)
"""
REVEALED = ["Tensor", "Point"]


@dataclass(frozen=True)
class Layout:
    """Where the files of a project lie, what modules are called in it, and how its program is started."""

    folder: str
    model: str
    base: str
    program: str
    path: str
    """What is on `sys.path` besides the folder of the program, and what checkers are told of."""
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
    write(project / "src/shop/main.py", "from .model_qten import Marked\n\nprint(Marked.__module__)\n")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "QTEN_GEN_JIT": "off"}
    done = fresh_process.run("-W", "error", "-m", "shop.main", cwd=project / "src", env=environment)
    assert (done.stdout, done.stderr) == ("shop.model\n", "")


@pytest.mark.xdist_group("mypy")
@pytest.mark.parametrize("name", LAYOUTS)
def test_mypy_sees_the_exact_types(project: Path, name: str) -> None:
    layout = LAYOUTS[name]
    folder, program = project / layout.started_in, str(project / layout.program)
    reported = checked_folders.mypy(folder, (str(project / layout.path), *PATHS), program, reveals=True)
    assert [message.rpartition(".")[2].rstrip('"') for message in reported.values()] == REVEALED


def test_pyright_sees_the_exact_types(project: Path) -> None:
    paths = (*PATHS, *(str(project / layout.path) for layout in LAYOUTS.values()))
    include = [layout.program for layout in LAYOUTS.values()]
    reported = checked_folders.pyright(project, paths, include=include, reveals=True)
    assert sorted(message.rpartition(" ")[2].strip('"') for message in reported.values()) == sorted(
        REVEALED * len(LAYOUTS)
    )
