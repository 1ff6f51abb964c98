"""The programs that type checkers are run over, and the errors that their comments say.

Each file in `programs` is user code. `assert_type` says which type an expression has, and a comment `# E` that the line is an
error; `# E mypy` and `# E pyright` that one of the two finds it. Nothing else may be reported.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.typing.checked_folders import Reports
from tests.typing.operation_rows import program

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
REPOSITORY = HERE.parents[1]

OPERATIONS = REPOSITORY / "build" / "programs" / "operations.py"
"""The program that `operation_rows` makes of the table of operations."""

Line = tuple[str, int]


def programs() -> list[Path]:
    """All programs, the one of the table of operations as it is now."""
    text = program()
    if not OPERATIONS.exists() or OPERATIONS.read_text(encoding="utf-8") != text:
        OPERATIONS.parent.mkdir(parents=True, exist_ok=True)
        written = OPERATIONS.with_suffix(f".{os.getpid()}")
        written.write_text(text, encoding="utf-8")
        written.replace(OPERATIONS)
    return [*sorted(PROGRAMS.glob("*.py")), OPERATIONS]


def expected(checker: str) -> set[Line]:
    """The lines that a checker has to report."""
    found: set[Line] = set()
    for path in programs():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            mark = re.search(r"# E(?: (mypy|pyright))?$", line)
            if mark and mark[1] in (None, checker):
                found.add((path.name, number))
    return found


def disagreements(checker: str, reports: Reports) -> list[str]:
    """Where a checker and the programs differ."""
    reported = {(Path(file).name, line): message for (file, line), message in reports.items()}
    wanted = expected(checker)
    names = {path.name for path in programs()}
    return [
        *(f"{name}:{number}: not reported" for name, number in sorted(wanted - reported.keys())),
        *(
            f"{name}:{number}: {message}"
            for (name, number), message in sorted(reported.items())
            if (name, number) not in wanted and name in names
        ),
    ]
