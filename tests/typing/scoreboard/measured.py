"""The measurement: how many rows are right in each checker, which they are, and why a row is not."""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import version
from pathlib import Path

from tests.generated_sources import FOLDER, generated_sources
from tests.typing.checked_folders import CHECKERS, PATHS, Reports, versions
from tests.typing.generated_projects import generate_projects

from .programs import PRELUDES, Line, program
from .reasons import reason
from .rows import OURS

RIGHT, WRONG = "\u2713", "\u2717"


def measure(folder: Path) -> tuple[dict[str, list[Line]], dict[str, Reports]]:
    """The rows of each column, and what each checker reports for all programs."""
    generated_sources()
    columns: dict[str, list[Line]] = {}
    for column in PRELUDES:
        text, columns[column] = program(column)
        (folder / file_of(column)).write_text(text, encoding="utf-8")
    return columns, {name: check(folder, (str(FOLDER), *PATHS)) for name, check in CHECKERS.items()}


def file_of(column: str) -> str:
    return f"rows_{column.replace('.', '_').lower()}.py"


def is_right(line: Line, column: str, reports: Reports) -> bool:
    """Whether a checker gives the expression its type, or finds the mistake."""
    return ((file_of(column), line.number) in reports) != bool(line.type)


def document() -> str:
    """The text of docs/evidence/typing-scoreboard.json."""
    with tempfile.TemporaryDirectory() as folder:
        columns, reports = measure(Path(folder))
    peers = {name: version(name) for name in ("torch", "tensordict", "jaxtyping")}
    found = {
        "versions": {**versions(), **peers},
        "rows": {column: len(lines) for column, lines in columns.items()},
        "right": {column: _right(column, lines, reports) for column, lines in columns.items()},
        "planted mistakes": _planted(),
        "signs": f"one for each of {', '.join(CHECKERS)}",
        "expressions": {line.code: _signs(line, columns, reports) for line in columns[OURS]},
    }
    return json.dumps(found, indent=1, ensure_ascii=False)


def _right(column: str, lines: list[Line], reports: dict[str, Reports]) -> dict[str, int]:
    return {name: sum(is_right(line, column, reports[name]) for line in lines) for name in CHECKERS}


def _planted() -> dict[str, object]:
    """The mistakes in whole programs: how many of them each checker finds, and what else it reports."""
    with tempfile.TemporaryDirectory() as folder:
        generate_projects(Path(folder))
        marks = {
            (f"{path.parent.name}/{path.name}", number)
            for path in Path(folder).glob("*/*.py")
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
            if line.endswith(("# E", "# E none"))
        }
        reports = {name: check(Path(folder), PATHS) for name, check in CHECKERS.items()}
    return {
        "programs": len({file for file, _ in marks}),
        "mistakes": len(marks),
        "found": {name: len(marks & report.keys()) for name, report in reports.items()},
        "reported beside": {name: len(report.keys() - marks) for name, report in reports.items()},
    }


def _signs(line: Line, columns: dict[str, list[Line]], reports: dict[str, Reports]) -> dict[str, str]:
    """What a row expects, a sign for each checker and peer that has it, and why it is not right."""
    found = {"expected": line.type or "a mistake"}
    for column, lines in columns.items():
        for same in lines:
            if same.row is line.row:
                found[column] = "".join(RIGHT if is_right(same, column, reports[name]) else WRONG for name in CHECKERS)
    return {**found, "why": reason(line.code)} if WRONG in found[OURS] else found
