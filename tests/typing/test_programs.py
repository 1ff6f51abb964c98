"""What mypy says about user code. `test_programs_in_pyright` asks pyright about the same programs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import fresh_process
from tests.generated_sources import generated_sources
from tests.typing.marked_programs import OPERATIONS, PROGRAMS, REPOSITORY, disagreements, run


@pytest.mark.xdist_group("mypy")
def test_mypy_reports_what_the_programs_say() -> None:
    path = os.pathsep.join(map(str, (PROGRAMS, generated_sources(), REPOSITORY / "stubs", REPOSITORY)))
    cache = REPOSITORY / ".mypy_cache"
    options = ("--strict", "--python-version=3.11", "--output=json", "--config-file=", f"--cache-dir={cache}")
    output = run("mypy", *options, ".", str(OPERATIONS), MYPYPATH=path)
    reports = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    found = disagreements(
        "mypy",
        {
            (Path(report["file"]).name, report["line"]): report["message"]
            for report in reports
            if report["severity"] == "error"
        },
    )
    assert not found, "\n".join(found)


def test_the_program_over_three_files_runs() -> None:
    paths = (generated_sources(), REPOSITORY)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = fresh_process.run("-W", "error", PROGRAMS / "whole_world.py", cwd=PROGRAMS, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
