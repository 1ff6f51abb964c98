"""Random programs whose values come from both imports: each runs, and mypy and pyright find its mistakes and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from qten_gen.cli.command import main
from tests import fresh_process
from tests.typing.module_worlds import ModuleWorld, module_worlds
from tests.typing.worlds import World, worlds

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("QTEN_GEN_EXAMPLES", "6"))


def some_worlds() -> list[World | ModuleWorld]:
    """The programs of one run: the same ones each time, or as many others as `QTEN_GEN_EXAMPLES` says."""
    found: list[World | ModuleWorld] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize="QTEN_GEN_EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(worlds(), module_worlds())
    def collect(world: World, modules: ModuleWorld) -> None:
        found.extend((world, modules))

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


def disagreements(folder: Path, reported: dict[tuple[str, int], str]) -> list[str]:
    """Where the marks in the programs and the reports of a checker differ."""
    wanted = {
        (str(path.relative_to(folder)), number)
        for path in folder.glob("p*/use.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.endswith("# E")
    }
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path in folder.glob("p*/*.py*")}
    shown = {place: message for place, message in reported.items() if place not in wanted}
    return [
        *(
            f"{name}:{number}: not reported: {lines[folder / name][number - 1]}"
            for name, number in wanted - set(reported)
        ),
        *(f"{name}:{number}: {text}: {lines[folder / name][number - 1]}" for (name, number), text in shown.items()),
    ]


def test_every_program_runs_and_gives_the_types_that_it_asserts(folder: Path) -> None:
    modules = sorted(path.parent.name for path in folder.glob("p*/use.py"))
    checked = "import typing; from tests.typing.executed import check; typing.assert_type = check"
    program = "; ".join([checked, *(f"import {module}.use" for module in modules)])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(folder)))}
    done = fresh_process.run("-W", "error", "-c", program, cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.xdist_group("mypy")
def test_mypy_agrees_with_every_program(folder: Path) -> None:
    options = ("--strict", "--python-version=3.11", "--output=json", "--config-file=")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={REPOSITORY / '.mypy_cache'}", "."],
        cwd=folder,
        env=os.environ | {"MYPYPATH": os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "stubs")))},
        text=True,
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {(item["file"], item["line"]): item["message"] for item in reports if item["severity"] == "error"}
    assert not (wrong := disagreements(folder, found)), "\n".join(wrong)


def test_pyright_agrees_with_every_program(folder: Path) -> None:
    settings = {"extraPaths": [str(REPOSITORY), str(REPOSITORY / "stubs")], "exclude": ["**/*_qten.py"]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", f"--pythonpath={sys.executable}", "--outputjson"],
        cwd=folder,
        text=True,
        capture_output=True,
    )
    reports = json.loads(done.stdout)["generalDiagnostics"]
    found = {
        (os.path.relpath(item["file"], folder), item["range"]["start"]["line"] + 1): item["message"]
        for item in reports
        if item["severity"] == "error"
    }
    assert not (wrong := disagreements(folder, found)), "\n".join(wrong)
