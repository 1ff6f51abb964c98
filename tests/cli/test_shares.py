"""A run that several processes share does what a run in one process does."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from qten_gen.common.stub_settings import StubSettings
from qten_gen.generate.outputs import render_outputs
from qten_gen.model import FileDecl
from qten_gen.project.output_names import is_output
from qten_gen.run import shares
from tests.command import BATCH, BROKEN, Command, Result

# Newer interpreters warn of copies of a process with threads, such as a worker of pytest-xdist. The command makes no such copy.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

TESTS = Path(__file__).parents[1]

BASE = """
from torch import Tensor
from qten_gen import TensorClass

class Base(TensorClass):
    own: Tensor
"""
CHILD = """
from .base import Base

class Child{number}(Base):
    more: int = {number}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project where files depend on each other: sources, a base with children, mistakes, a warning, and an orphan."""
    root = tmp_path / "project"
    for name in ("sources/atlas", "sources/shop", "sources/signals"):
        source = TESTS / name
        shutil.copytree(source, root / source.name, ignore=lambda _, names: [path for path in names if is_output(path)])
    write = Command(root).write
    write("pyproject.toml", "")
    write("family/__init__.py", "")
    write("family/base.py", BASE)
    for number in range(9):
        write(f"family/child{number}.py", CHILD.format(number=number))
    write("wrong/__init__.py", "")
    write("wrong/base.py", BROKEN.replace("Batch", "Base"))
    write("wrong/child.py", CHILD.format(number=1))
    write("wrong/zebra.py", BROKEN)
    write("gone.py", BATCH)
    return root


def generated(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if is_output(path.name)}


def shared_among(processes: int, patch: pytest.MonkeyPatch) -> None:
    """Divide each run of one target or more."""
    patch.setattr(shares, "FILES_EACH", 1)
    patch.setattr(shares, "_cores", lambda: processes)


def run_twice(root: Path) -> tuple[Result, dict[str, bytes], Result]:
    """A first run, its outputs, and a run after some edits."""
    command = Command(root)
    first = command(str(root))
    outputs = generated(root)
    (root / "gone.py").unlink()
    command.write("family/base.py", BASE.replace("own", "renamed"))
    command.write("wrong/base.py", BASE)
    return first, outputs, command("-v", str(root))


def comparable(result: Result) -> tuple[int, str, list[str]]:
    return result.status, result.summary, [line for line in result.err.splitlines() if " in " not in line]


@pytest.mark.parametrize("processes", [2, 5])
def test_processes_find_and_write_together_what_one_finds_and_writes(
    processes: int, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = shutil.copytree(project, project.parent / "alone" / "project")
    monkeypatch.chdir(alone)
    first, outputs, second = run_twice(alone)
    monkeypatch.chdir(project)
    shared_among(processes, monkeypatch)
    shared_first, shared_outputs, shared_second = run_twice(project)
    assert len(outputs) > 20 and shared_outputs == outputs and generated(project) == generated(alone)
    assert comparable(shared_first) == comparable(first) and comparable(shared_second) == comparable(second)


def test_a_run_after_a_shared_one_has_nothing_to_do(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    shutil.rmtree(project / "wrong")
    shared_among(3, monkeypatch)
    assert Command(project)(".").status == 0
    monkeypatch.setattr(shares, "plan_in_shares", None)  # it would be called if a target were stale
    assert "up to date" in Command(project)(".").out


def dies_at_once(_: object, share: object, given: Connection, answers: object) -> None:
    os._exit(9)


def dies_while_it_answers(_: object, share: object, given: Connection, answers: object) -> None:
    os.write(given.fileno(), struct.pack("!i", 1000) + b"the first bytes of a thousand")
    os._exit(9)


@pytest.mark.parametrize("death", [dies_at_once, dies_while_it_answers])
def test_what_a_process_was_to_do_is_done_by_the_first_if_it_dies(
    death: Callable[..., None], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    shared_among(3, monkeypatch)
    monkeypatch.setattr(shares, "_answer", death)
    command = Command(project)
    assert comparable(command("."))[0] == 1  # for the mistakes in "wrong"
    outputs = generated(project)
    shared_among(1, monkeypatch)
    shutil.rmtree(project / ".qten_cache")
    command(".")
    assert len(outputs) > 20 and generated(project) == outputs


def test_a_crash_in_one_process_is_reported_and_costs_its_file_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)

    def crashing(file: FileDecl, existing: dict[str, bytes], more: StubSettings) -> dict[str, str]:
        if file.source.path.endswith("child7.py"):
            raise ValueError("seven")
        return render_outputs(file, existing, more)

    monkeypatch.setattr("qten_gen.generate.plan.render_outputs", crashing)
    shared_among(4, monkeypatch)
    done = Command(project)("family")
    assert done.status == 101 and done.err.count("ValueError: seven") == 1
    assert not (project / "family/child7_qten.py").exists() and (project / "family/child8_qten.py").exists()


def test_small_runs_stay_in_one_process(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(shares, "_started", None)  # it would be called for a second process
    assert Command(project)("family").status == 0
