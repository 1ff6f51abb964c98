"""Whole programs over several files, as projects have them: each runs, and no checker reports anything but its mistakes.

Each folder in `projects` is a package, whose `main` uses declared and generated classes together. In its `mistakes.py`, `# E`
marks each line that is an error.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from qten_gen.cli.command import main
from tests import fresh_process
from tests.typing import checked_folders
from tests.typing.checked_folders import REPOSITORY, disagreements

PROJECTS = Path(__file__).parent / "projects"
NAMES = sorted(path.parent.name for path in PROJECTS.glob("*/main.py"))
IN_FUNCTIONS = {"notebook"}
"""Projects with classes in functions, for which nothing is generated."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All projects, generated."""
    root = tmp_path_factory.mktemp("projects")
    shutil.copytree(PROJECTS, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*_qten.py*", "__pycache__"))
    (root / "pyproject.toml").write_text('[tool.qten-gen]\nsrc = ["."]\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["--quiet"]) == 0
    return root


@pytest.mark.parametrize("name", NAMES)
def test_a_project_runs_and_builds_no_class_of_a_file_in_memory(folder: Path, name: str) -> None:
    jit = "on" if name in IN_FUNCTIONS else "off"
    path = os.pathsep.join((str(REPOSITORY), str(folder)))
    environment = os.environ | {"PYTHONPATH": path, "QTEN_GEN_JIT": jit}
    done = fresh_process.run("-W", "error", "-c", f"import {name}.main", cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.xdist_group("mypy")
def test_mypy_finds_the_mistakes_of_projects_and_nothing_else(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.mypy(folder))), "\n".join(wrong)


def test_pyright_finds_the_mistakes_of_projects_and_nothing_else(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.pyright(folder))), "\n".join(wrong)


def test_pyright_reports_nothing_in_stubs_in_its_strict_mode(folder: Path) -> None:
    reported = checked_folders.pyright(folder, "strict")
    assert [f"{name}:{line}: {text}" for (name, line), text in reported.items() if name.endswith(".pyi")] == []


def test_ty_finds_the_mistakes_of_projects_and_nothing_else(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.ty(folder))), "\n".join(wrong)
