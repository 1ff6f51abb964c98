"""Whole programs over several files, as projects have them: each runs, and no checker reports anything but its mistakes.

Each folder in `projects` is a package, whose `main` uses declared and generated classes together, and whose `mistakes.py` has
mistakes; each file in `planted` has both. `# E` marks a line that is an error, and `# E none` a mistake that no checker can see:
the scoreboard counts both.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import fresh_process
from tests.typing import checked_folders
from tests.typing.checked_folders import REPOSITORY, disagreements
from tests.typing.generated_projects import PLANTED, PROJECTS, generate_projects

NAMES = sorted(path.parent.name for path in PROJECTS.glob("*/main.py"))
IN_FUNCTIONS = {"notebook"}
"""Projects with classes in functions, for which nothing is generated."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All projects, generated."""
    root = tmp_path_factory.mktemp("projects")
    generate_projects(root)
    return root


@pytest.mark.parametrize("name", NAMES)
def test_a_project_runs_and_builds_no_class_of_a_file_in_memory(folder: Path, name: str) -> None:
    jit = "on" if name in IN_FUNCTIONS else "off"
    path = os.pathsep.join((str(REPOSITORY), str(folder)))
    environment = os.environ | {"PYTHONPATH": path, "QTEN_GEN_JIT": jit}
    done = fresh_process.run("-W", "error", "-c", f"import {name}.main", cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_programs_with_planted_mistakes_run_and_build_no_class_in_memory(folder: Path) -> None:
    names = [program.name.partition(".")[0] for program in PLANTED]
    text = "".join(f"import planted.{name}; planted.{name}.main()\n" for name in names)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "QTEN_GEN_JIT": "off"}
    done = fresh_process.run("-W", "error", "-c", text, cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.xdist_group("mypy")
def test_mypy_finds_the_mistakes_of_projects_and_nothing_else(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.mypy(folder))), "\n".join(wrong)


def test_pyright_finds_the_mistakes_of_projects_and_nothing_else_also_in_strict_stubs(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.pyright(folder))), "\n".join(wrong)


def test_ty_finds_the_mistakes_of_projects_and_nothing_else(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.ty(folder))), "\n".join(wrong)
