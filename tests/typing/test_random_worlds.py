"""Random programs whose values come from both imports: each runs, and mypy, pyright and ty find its mistakes and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from qten_gen.cli.command import main
from tests import fresh_process
from tests.typing import checked_folders
from tests.typing.checked_folders import REPOSITORY, disagreements
from tests.typing.module_worlds import ModuleWorld, module_worlds

EXAMPLES = int(os.environ.get("QTEN_GEN_EXAMPLES", "6"))


def some_worlds() -> list[ModuleWorld]:
    """The programs of one run: the same ones each time, or as many others as `QTEN_GEN_EXAMPLES` says."""
    found: list[ModuleWorld] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize="QTEN_GEN_EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(module_worlds())
    def collect(world: ModuleWorld) -> None:
        found.append(world)

    collect()
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs, generated."""
    root = tmp_path_factory.mktemp("worlds")
    for number, world in enumerate(some_worlds()):
        for name, text in world.files().items():
            path = root / f"p{number}" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (root / "pyproject.toml").write_text('[tool.qten-gen]\nsrc = ["."]\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["--quiet"]) == 0
    return root


def test_every_program_runs_and_gives_the_types_that_it_asserts(folder: Path) -> None:
    modules = sorted(path.parent.name for path in folder.glob("p*/use.py"))
    checked = "import typing; from tests.typing.executed import check; typing.assert_type = check"
    program = "; ".join([checked, *(f"import {module}.use" for module in modules)])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(folder)))}
    done = fresh_process.run("-W", "error", "-c", program, cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.xdist_group("mypy")
def test_mypy_agrees_with_every_program(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.mypy(folder))), "\n".join(wrong)


def test_pyright_agrees_with_every_program(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.pyright(folder))), "\n".join(wrong)


def test_ty_agrees_with_every_program(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.ty(folder))), "\n".join(wrong)
