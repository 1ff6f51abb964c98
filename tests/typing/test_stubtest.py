"""mypy's stubtest compares what checkers are told with what is there: the package, and every generated pair of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mypy.main import define_options

from tests.generated_sources import FOLDER, generated_sources

REPOSITORY = Path(__file__).parents[2]
ALLOWED = Path(__file__).with_name("stubtest_allowlist.txt")
ROOTS = (REPOSITORY, REPOSITORY / "examples", REPOSITORY / "stubs", FOLDER)


def pairs() -> list[str]:
    """The generated modules, by the names that tests and examples import them with."""
    roots = {REPOSITORY / "examples": REPOSITORY / "examples", FOLDER: generated_sources()}
    return sorted(
        ".".join(path.relative_to(root).with_suffix("").parts)
        for folder, root in roots.items()
        for path in folder.rglob("*_qten.pyi")
    )


def settings(cache: Path) -> str:
    """The settings of the repository's own mypy run, with a cache.

    stubtest needs the syntax trees, which no cache holds, so it starts without one. The one that it leaves serves the others.
    """
    strict = define_options()[2]
    return "\n".join(
        [
            "[mypy]",
            f"cache_dir = {cache}",
            "incremental = true",
            "python_version = 3.11",
            f"mypy_path = {os.pathsep.join(map(str, ROOTS[1:]))}",
            "explicit_package_bases = true",
            "namespace_packages = true",
            *(f"{flag} = {str(value).lower()}" for flag, value in strict),
            # As in the repository's settings: some releases of it have types, some have none.
            "[mypy-setuptools.*]",
            "ignore_missing_imports = true",
        ]
    )


@pytest.mark.long(60)
@pytest.mark.xdist_group("mypy")
@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="the settings of mypy are those of Python 3.11, and stubtest compares with them"
)
def test_the_package_and_the_generated_stubs_say_what_the_classes_are(tmp_path: Path) -> None:
    modules = ["qten_gen", *pairs()]
    assert "kinds.modules_qten" in modules and "detector.model_qten" in modules
    cache, config = tmp_path / "cache", tmp_path / "mypy.ini"
    config.write_text(settings(cache), encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", *modules, "--allowlist", str(ALLOWED), "--concise"]
    command += ["--mypy-config-file", str(config)]
    paths = os.pathsep.join(str(root) for root in ROOTS)
    run = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths}
    )
    assert run.returncode == 0, run.stdout + run.stderr
    if not (REPOSITORY / ".mypy_cache").exists():
        shutil.copytree(cache, REPOSITORY / ".mypy_cache")
