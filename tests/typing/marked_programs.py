"""The programs that type checkers are run over, and the errors that their comments say.

Each file in `programs` is user code. `assert_type` says which type an expression has, and a comment `# E` that the line is an
error; `# E mypy` and `# E pyright` that one of the two finds it. Nothing else may be reported.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

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
