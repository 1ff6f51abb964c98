"""The page: how many rows are right in each checker, each row of ours, and why a row is not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from .checkers import CHECKERS, Reports, versions
from .programs import PRELUDES, Line, program
from .reasons import reason

SHAPES = (Path(__file__).parent / "shapes.md").read_text(encoding="utf-8")
RIGHT, WRONG = "\u2713", "\u2717"


def measure(folder: Path) -> tuple[dict[str, list[Line]], dict[str, Reports]]:
    """The rows of each column, and what each checker reports for all programs."""
    columns: dict[str, list[Line]] = {}
    for column in PRELUDES:
        text, columns[column] = program(column)
        (folder / file_of(column)).write_text(text, encoding="utf-8")
    return columns, {name: check(folder) for name, check in CHECKERS.items()}


def file_of(column: str) -> str:
    return f"rows_{column.replace('.', '_').lower()}.py"


def is_right(line: Line, column: str, reports: Reports) -> bool:
    """Whether a checker gives the expression its type, or finds the mistake."""
    return ((file_of(column), line.number) in reports) != bool(line.type)


def page() -> str:
    """The text of docs/typing-scoreboard.md."""
    with tempfile.TemporaryDirectory() as folder:
        columns, reports = measure(Path(folder))
    parts = (*_heading(columns, reports), *_rows(columns, reports), *_wrong(columns, reports), "", SHAPES)
    return "\n".join(parts)


def _heading(columns: dict[str, list[Line]], reports: dict[str, Reports]) -> Iterator[str]:
    found = versions()
    yield "# What type checkers see: the scoreboard"
    yield ""
    yield "This page counts what four type checkers know of single expressions. A row is right if the expression has its exact"
    yield "type, or if the mistake in it is reported. `make typing-scoreboard` writes it, from the rows in"
    yield "`tests/typing/scoreboard/rows.py`. A test runs every row of ours, and compares what it gives with its type."
    yield ""
    names = ", ".join(f"{name} {found[name]}" for name in CHECKERS)
    peers = ", ".join(f"{name} {version(name)}" for name in ("torch", "tensordict", "jaxtyping"))
    yield f"Measured with {names} (mypy with `--strict`), {peers}."
    yield ""
    yield f"| what is checked | rows | {' | '.join(CHECKERS)} |"
    yield f"|---|--:|{'--:|' * len(CHECKERS)}"
    titles = {
        "generated": "classes of the generated module",
        "declared": "classes of the declaring module",
        "nn.Module": "plain `nn.Module`",
        "tensordict": "`tensordict.TensorClass`",
        "jaxtyping": "dataclass with jaxtyping",
    }
    for column, lines in columns.items():
        counts = [sum(is_right(line, column, reports[name]) for line in lines) for name in CHECKERS]
        yield f"| {titles[column]} | {len(lines)} | {' | '.join(map(str, counts))} |"
    yield ""
    yield "A peer has fewer rows where it has nothing of the kind. The generated module has the classes of the declaring module;"
    yield "it knows handlers too. Shapes that jaxtyping annotates are the same type to every checker."
    yield ""


def _rows(columns: dict[str, list[Line]], reports: dict[str, Reports]) -> Iterator[str]:
    """Every row of ours, and the peer's beside it: one sign for each checker."""
    yield "## Every row"
    yield ""
    yield f"The signs are those of {', '.join(CHECKERS)}, in this order."
    yield ""
    yield f"| | expression | type | {' | '.join(columns)} |"
    yield f"|---|---|---|{'---|' * len(columns)}"
    by_row = {column: {id(line.row): line for line in lines} for column, lines in columns.items()}
    for line in columns["generated"]:
        cells = []
        for column in columns:
            found = by_row[column].get(id(line.row))
            signs = "" if found is None else "".join(_sign(is_right(found, column, reports[name])) for name in CHECKERS)
            cells.append(signs)
        expected = f"`{line.type}`".replace("|", "\\|") if line.type else "a mistake"
        yield f"| {line.row.subject} | `{line.code}` | {expected} | {' | '.join(cells)} |"
    yield ""


def _sign(right: bool) -> str:
    return RIGHT if right else WRONG


def _wrong(columns: dict[str, list[Line]], reports: dict[str, Reports]) -> Iterator[str]:
    """The rows of ours that are not right in a checker, with what it says and why."""
    yield "## Rows that are not right, and why"
    yield ""
    rows = []
    for column in ("generated", "declared"):
        for line in columns[column]:
            failed = [name for name in CHECKERS if not is_right(line, column, reports[name])]
            if failed:
                said = reports[failed[0]].get((file_of(column), line.number), "nothing is reported")
                short = " ".join(said.split()).replace("|", "\\|")
                why = reason(line.code).replace("|", "\\|")
                rows.append(f"| {column} | `{line.code}` | {', '.join(failed)} | {short[:160]} | {why} |")
    if not rows:
        yield "There are none."
        return
    yield "| classes | expression | in | what the first of these says | why |"
    yield "|---|---|---|---|---|"
    yield from rows
