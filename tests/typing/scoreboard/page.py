"""The page: how many rows are right in each checker, each row of ours, and why a row is not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

from tests.generated_sources import FOLDER, generated_sources
from tests.typing.checked_folders import CHECKERS, PATHS, Reports, versions
from tests.typing.generated_projects import PROJECTS, generate_projects

from .programs import PRELUDES, Line, program
from .reasons import reason
from .rows import OURS

MISSED = (
    "a misspelt keyword of `batch.replace`, whose keywords are any (a descriptor would know them, but gives pyrefly wrong types);"
    " and an attribute of a layer of torch, which is Any without [library stubs](../library-stubs.md)."
)
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


def page() -> str:
    """The text of docs/evidence/typing-scoreboard.md."""
    with tempfile.TemporaryDirectory() as folder:
        columns, reports = measure(Path(folder))
    parts = (*_heading(columns, reports), *_planted(), *_rows(columns, reports), *_wrong(columns, reports))
    return "\n".join(parts)


def _heading(columns: dict[str, list[Line]], reports: dict[str, Reports]) -> Iterator[str]:
    found = versions()
    yield "# What type checkers see: the scoreboard"
    yield ""
    yield "This page counts what four type checkers know of single expressions. A row is right if the expression has its exact"
    yield "type, or if the mistake in it is reported. `make typing-scoreboard` writes the page; a test runs every row of ours."
    yield ""
    names = ", ".join(f"{name} {found[name]}" for name in CHECKERS)
    peers = ", ".join(f"{name} {version(name)}" for name in ("torch", "tensordict", "jaxtyping"))
    yield f"Measured with {names} (mypy with `--strict`), {peers}."
    yield ""
    yield f"| what is checked | rows | {' | '.join(CHECKERS)} |"
    yield f"|---|--:|{'--:|' * len(CHECKERS)}"
    titles = {
        OURS: "declared classes",
        "nn.Module": "plain `nn.Module`",
        "tensordict": "`tensordict.TensorClass`",
        "jaxtyping": "dataclass with jaxtyping",
    }
    for column, lines in columns.items():
        counts = [sum(is_right(line, column, reports[name]) for line in lines) for name in CHECKERS]
        yield f"| {titles[column]} | {len(lines)} | {' | '.join(map(str, counts))} |"
    yield ""
    yield "Shapes that jaxtyping annotates are the same type to every checker."
    yield ""


def _planted() -> Iterator[str]:
    """The mistakes in whole programs: how many of them each checker finds, and what else it reports."""
    marks = {
        (f"{path.parent.name}/mistakes.py", number): line.endswith("# E none")
        for path in PROJECTS.glob("*/mistakes.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.endswith(("# E", "# E none"))
    }
    with tempfile.TemporaryDirectory() as folder:
        generate_projects(Path(folder))
        reports = {name: check(Path(folder), PATHS) for name, check in CHECKERS.items()}
    found = [str(len(marks.keys() & report.keys())) for report in reports.values()]
    false = [str(len(report.keys() - marks.keys())) for report in reports.values()]
    programs = len({file for file, _ in marks})
    yield "## Planted mistakes"
    yield ""
    yield f"The {programs} programs in `tests/typing/projects` run, and their files `mistakes.py` have {len(marks)} mistakes."
    yield ""
    yield f"| | {' | '.join(CHECKERS)} |"
    yield f"|---|{'--:|' * len(CHECKERS)}"
    yield f"| found | {' | '.join(found)} |"
    yield f"| reported beside, though it is right when it runs | {' | '.join(false)} |"
    yield ""
    yield fill(f"No checker finds {sum(marks.values())}: {MISSED}", 120, break_long_words=False, break_on_hyphens=False)
    yield ""


def _rows(columns: dict[str, list[Line]], reports: dict[str, Reports]) -> Iterator[str]:
    """Every row of ours, and the peer's beside it: one sign for each checker. Rows that are right everywhere are only listed."""
    yield "## Every row"
    yield ""
    yield f"The signs are those of {', '.join(CHECKERS)}, in this order. A peer without a sign has nothing of the kind."
    yield ""
    yield f"| expression | type | {' | '.join(columns)} |"
    yield f"|---|---|{'---|' * len(columns)}"
    by_row = {column: {id(line.row): line for line in lines} for column, lines in columns.items()}
    right = []
    for line in columns[OURS]:
        cells = []
        for column in columns:
            found = by_row[column].get(id(line.row))
            signs = "" if found is None else "".join(_sign(is_right(found, column, reports[name])) for name in CHECKERS)
            cells.append(signs)
        expected = f"`{line.type}`".replace("|", "\\|") if line.type else "a mistake"
        if WRONG in "".join(cells):
            yield f"| `{line.code}` | {expected} | {' | '.join(cells)} |"
        else:
            right.append(f"`{line.code}`")
    yield ""
    yield fill(
        f"Right in every checker and column: {', '.join(right)}.", 120, break_long_words=False, break_on_hyphens=False
    )
    yield ""


def _sign(right: bool) -> str:
    return RIGHT if right else WRONG


def _wrong(columns: dict[str, list[Line]], reports: dict[str, Reports]) -> Iterator[str]:
    """The rows of ours that are not right in a checker, by the reason."""
    yield "## Rows that are not right, and why"
    yield ""
    rows: dict[str, list[str]] = {}
    for line in columns[OURS]:
        failed = [name for name in CHECKERS if not is_right(line, OURS, reports[name])]
        where = "" if failed == list(CHECKERS) else f" in {' and '.join(failed)}"
        if failed:
            rows.setdefault(reason(line.code), []).append(f"`{line.code}`{where}")
    for why, expressions in rows.items():
        text = f"* {'; '.join(expressions)}: {why}."
        yield fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
