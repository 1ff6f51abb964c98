"""What mypy says about user code. `test_programs_in_pyright` asks pyright about the same programs."""

from __future__ import annotations

import os

import pytest

from tests import fresh_process
from tests.generated_sources import generated_sources
from tests.typing import checked_folders
from tests.typing.marked_programs import OPERATIONS, PROGRAMS, REPOSITORY, disagreements, programs


@pytest.mark.xdist_group("mypy")
def test_mypy_reports_what_the_programs_say() -> None:
    programs()
    paths = (str(PROGRAMS), str(generated_sources()), *reversed(checked_folders.PATHS))
    found = disagreements("mypy", checked_folders.mypy(PROGRAMS, paths, ".", str(OPERATIONS)))
    assert not found, "\n".join(found)


def test_the_program_over_three_files_runs() -> None:
    paths = (generated_sources(), REPOSITORY)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = fresh_process.run("-W", "error", PROGRAMS / "whole_world.py", cwd=PROGRAMS, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
