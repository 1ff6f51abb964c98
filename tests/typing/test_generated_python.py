"""Generated Python passes the checkers by itself. They read the stub beside it, so this looks at copies without stubs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.generated_sources import REPOSITORY, generated_sources
from tests.typing import checked_folders
from tests.typing.checked_folders import PATHS


@pytest.fixture(scope="module")
def without_stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and examples, with generated modules and without their stubs."""
    folder = tmp_path_factory.mktemp("generated")
    for source in (generated_sources(), REPOSITORY / "examples"):
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*_qten.pyi", ".*"))
    return folder


@pytest.mark.xdist_group("mypy")
def test_mypy_accepts_generated_modules_in_strict_mode(without_stubs: Path) -> None:
    files = sorted(str(path.relative_to(without_stubs)) for path in without_stubs.rglob("*_qten.py"))
    assert len(files) > 10
    assert checked_folders.mypy(without_stubs, (str(without_stubs), *reversed(PATHS)), *files) == {}


def test_pyright_accepts_generated_modules_in_strict_mode(without_stubs: Path) -> None:
    include = ["**/*_qten.py"]
    assert checked_folders.pyright(without_stubs, typeCheckingMode="strict", include=include, exclude=[]) == {}


def test_one_short_line_is_all_that_a_generated_module_switches_off(without_stubs: Path) -> None:
    for path in without_stubs.rglob("*_qten.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        switches = [line for line in lines if re.match(r"# (?:mypy|pyright|ty|pyrefly):", line)]
        assert switches == ["# pyright: basic"]
        assert not any("type: ignore" in line for line in lines)
