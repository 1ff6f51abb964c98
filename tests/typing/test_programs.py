"""What type checkers say about user code.

Each file in `programs` is user code. `assert_type` says which type an expression has, and a comment `# E` that the line is an
error; `# E mypy` and `# E pyright` that one of the two finds it. Nothing else may be reported.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fresh_process

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
REPOSITORY = HERE.parents[1]

Line = tuple[str, int]


def expected(checker: str) -> set[Line]:
    """The lines that a checker has to report."""
    found: set[Line] = set()
    for path in PROGRAMS.glob("*.py"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            mark = re.search(r"# E(?: (mypy|pyright))?$", line)
            if mark and mark[1] in (None, checker):
                found.add((path.name, number))
    return found


def disagreements(checker: str, reported: dict[Line, str]) -> list[str]:
    """Where a checker and the programs differ."""
    wanted = expected(checker)
    return [
        *(f"{name}:{number}: not reported" for name, number in sorted(wanted - reported.keys())),
        *(
            f"{name}:{number}: {message}"
            for (name, number), message in sorted(reported.items())
            if (name, number) not in wanted and (PROGRAMS / name).exists()
        ),
    ]


def run(*arguments: str, **environment: str) -> str:
    """What a checker prints."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=PROGRAMS, capture_output=True, text=True, env=os.environ | environment
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.mark.xdist_group("mypy")
def test_mypy_reports_what_the_programs_say() -> None:
    path = os.pathsep.join(map(str, (PROGRAMS, HERE.parent / "samples", REPOSITORY / "stubs", REPOSITORY)))
    cache = REPOSITORY / ".mypy_cache"
    options = ("--strict", "--python-version=3.11", "--output=json", "--config-file=", f"--cache-dir={cache}")
    output = run("mypy", *options, ".", MYPYPATH=path)
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


@pytest.mark.long(16)
def test_pyright_reports_what_the_programs_say() -> None:
    project = f"--project={HERE / 'pyrightconfig.json'}"
    output = run("pyright", project, f"--pythonpath={sys.executable}", "--outputjson")
    found = disagreements(
        "pyright",
        {
            (Path(report["file"]).name, report["range"]["start"]["line"] + 1): report["message"]
            for report in json.loads(output)["generalDiagnostics"]
            if report["severity"] == "error"
        },
    )
    assert not found, "\n".join(found)


def test_the_program_over_three_files_runs() -> None:
    paths = (HERE.parent / "samples", REPOSITORY)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = fresh_process.run("-W", "error", PROGRAMS / "whole_world.py", cwd=PROGRAMS, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
