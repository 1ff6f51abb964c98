"""The whole programs in `projects` and `planted`, copied into a folder and generated there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from qten_gen.cli.command import main

PROJECTS = Path(__file__).parent / "projects"
PLANTED = sorted((Path(__file__).parent / "planted").glob("*.py.txt"))
"""Programs in one file, with a `main`, and six mistakes in a function that nobody calls."""


def generate_projects(root: Path) -> None:
    shutil.copytree(PROJECTS, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*_qten.py*", "__pycache__"))
    (root / "planted").mkdir()
    for program in PLANTED:
        shutil.copy(program, root / "planted" / program.stem)
    (root / "planted" / "__init__.py").touch()
    (root / "pyproject.toml").write_text('[tool.qten-gen]\nsrc = ["."]\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["--quiet"]) == 0
