"""A command that fails, is interrupted or is killed at any call leaves each file old or new, and the next run mends the rest."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from qten_gen.cli.command import main
from qten_gen.project.apply import is_temporary
from tests.command import BATCH
from tests.faults import KINDS, Kind, cases, in_child

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a process that is killed is forked"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

PROJECT = {"pyproject.toml": '[tool.qten-gen]\nsrc = ["src"]\n', "src/shop/__init__.py": "", "src/shop/model.py": BATCH}

OTHER = """
from qten_gen import TensorClass
from shop.model import Batch

class Order(TensorClass):
    batch: Batch
"""

PLAIN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)
"""


DECLARED = """
from torch import Tensor, nn
from qten_gen import Module, param

class Net(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.zeros_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight
"""


@dataclass(frozen=True)
class Scenario:
    """A command in a project, after others."""

    name: str
    files: Mapping[str, str]
    command: tuple[str, ...]
    earlier: tuple[tuple[str, ...], ...] = ()
    changed: Mapping[str, str | None] | None = None

    @property
    def generates(self) -> bool:
        return not self.command

    def prepare(self, folder: Path) -> None:
        """Write the project, run the earlier commands, and change files."""
        self._write(folder, self.files)
        for command in self.earlier:
            run(folder, *command)
        self._write(folder, self.changed or {})

    def _write(self, folder: Path, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def work(self, folder: Path) -> None:
        run(folder, *self.command)


SCENARIOS = (
    Scenario("a first run", {**PROJECT, "src/shop/other.py": OTHER}, ()),
    Scenario(
        "a later run",
        {**PROJECT, "src/shop/other.py": OTHER, "src/shop/gone.py": BATCH},
        (),
        ((),),
        {"src/shop/model.py": BATCH + "    y: Tensor | None = None\n", "src/shop/gone.py": None},
    ),
    Scenario("init", {"src/shop/model.py": BATCH}, ("init",)),
    Scenario("stubs", {"pyproject.toml": '[tool.qten-gen]\nstubs = ["torch.nn.modules.linear"]\n'}, ("stubs",)),
    Scenario("lock", {**PROJECT, "src/locked/net.py": DECLARED}, ("lock", "locked.net:Net(dim=3)"), ((),)),
    Scenario("adopt", {**PROJECT, "src/shop/net.py": PLAIN}, ("adopt", "--write", "src/shop/net.py")),
)


def run(folder: Path, *arguments: str) -> int:
    """The exit status of a command in a folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        return main(arguments, io.StringIO(), io.StringIO())
    finally:
        os.chdir(before)


def texts(folder: Path) -> dict[str, bytes]:
    """All files but those of caches, by name."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "cache" not in name}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_each_file_is_the_old_one_or_the_new_one(
    scenario: Scenario, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Faults in 138 stubs of torch.nn would take an hour: the scenario "stubs" has a few.
    monkeypatch.setattr("qten_gen.cli.init.write_stubs", lambda options, out, err: (0, False))
    done = tmp_path / "done"
    done.mkdir()
    scenario.prepare(done)
    old = texts(done)
    scenario.work(done)
    new = texts(done)
    assert old != new
    for case in cases(tmp_path, kind, scenario.prepare, scenario.work):
        found = texts(case.folder)
        leftovers = {name for name in found if is_temporary(os.path.basename(name))}
        for name in found.keys() - leftovers:
            assert found[name] in (old.get(name), new.get(name)), (case.fault, name)
        assert old.keys() & new.keys() <= found.keys(), case.fault
        assert not leftovers or kind in ("kill", "fail from then on"), (case.fault, leftovers)
        for name in leftovers:
            # As long after the fault as another run might still be at work, which has another number as well.
            os.utime(case.folder / name, (0, 0))
        assert in_child(lambda: scenario.work(case.folder))  # noqa: B023 # called at once
        found = texts(case.folder)
        if scenario.generates:
            assert found == new, (case.fault, found.keys() ^ new.keys())
        else:
            # A text that is not generated might be the user's, whatever its name.
            assert {name: text for name, text in found.items() if name not in leftovers} == new, case.fault
