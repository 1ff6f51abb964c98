"""Generated Python passes the checkers by itself. They read the stub beside it, so this looks at copies without stubs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generated_sources import generated_sources

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def without_stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and examples, with generated modules and without their stubs."""
    folder = tmp_path_factory.mktemp("generated")
    for source in (generated_sources(), REPOSITORY / "examples"):
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*_qten.pyi", ".*"))
    settings = {
        "typeCheckingMode": "strict",
        "include": ["**/*_qten.py"],
        "extraPaths": [str(REPOSITORY), str(REPOSITORY / "stubs")],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.mark.xdist_group("mypy")
def test_mypy_accepts_generated_modules_in_strict_mode(without_stubs: Path) -> None:
    files = sorted(str(path.relative_to(without_stubs)) for path in without_stubs.rglob("*_qten.py"))
    options = ("--strict", "--python-version=3.11", "--config-file=", f"--cache-dir={REPOSITORY / '.mypy_cache'}")
    path = os.pathsep.join(map(str, (without_stubs, REPOSITORY / "stubs", REPOSITORY)))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files],
        cwd=without_stubs,
        env=os.environ | {"MYPYPATH": path},
        text=True,
        capture_output=True,
    )
    assert done.stdout == f"Success: no issues found in {len(files)} source files\n", done.stdout + done.stderr


def test_pyright_accepts_generated_modules(without_stubs: Path) -> None:
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=without_stubs, text=True, capture_output=True)
    assert re.search(r"^0 errors", done.stdout, flags=re.MULTILINE), done.stdout + done.stderr


def test_one_short_line_is_all_that_a_generated_module_switches_off(without_stubs: Path) -> None:
    for path in without_stubs.rglob("*_qten.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        switches = [line for line in lines if re.match(r"# (?:mypy|pyright|ty|pyrefly):", line)]
        assert switches == ["# pyright: basic"]
        assert not any("type: ignore" in line for line in lines)
