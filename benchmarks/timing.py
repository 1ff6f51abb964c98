"""Timing that can be trusted to a few per cent, and the tables that show it.

All columns of a row run interleaved: round 1 runs each of them once, round 2 again in rotated order, and so on, so that a
disturbance hits all alike. The result is the minimum over the rounds.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from timeit import Timer

LOOP_SECONDS = 0.002
"""How long one measurement of a statement runs."""


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds for each column; `limit` is what is asked of the first column, in words."""

    name: str
    seconds: dict[str, float]
    limit: str = ""


def interleaved(columns: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The minimum over `rounds` of what each column's measurement returns, in seconds."""
    names = list(columns)
    best = dict.fromkeys(names, float("inf"))
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            best[name] = min(best[name], columns[name]())
    return best


def time_statements(statements: Mapping[str, tuple[str, Mapping[str, object]]], rounds: int) -> dict[str, float]:
    """Seconds for one run of each statement in its namespace, without the cost of the loop around it."""
    columns = {name: _loop(statement, namespace) for name, (statement, namespace) in statements.items()}
    empty = _loop("pass", {})
    gc.collect()
    gc.disable()
    try:
        best = interleaved({**columns, "": empty}, rounds)
    finally:
        gc.enable()
    turn = best.pop("")
    return {name: seconds - turn for name, seconds in best.items()}


def _loop(statement: str, namespace: Mapping[str, object]) -> Callable[[], float]:
    """A measurement of `statement`, run so often that it takes `LOOP_SECONDS`."""
    timer = Timer(statement, globals=dict(namespace))
    count = 1
    # One disturbed run would make the loop short, and every measurement of it the time of cold caches.
    while (seconds := min(timer.repeat(5, count))) < LOOP_SECONDS / 4:
        count *= 4
    count = max(1, round(count * LOOP_SECONDS / seconds))
    return lambda: timer.timeit(count) / count


def keep_memory(module: str) -> None:
    """Start this process again with memory that is not given back to the system between two measurements.

    With glibc's own settings a large result costs page faults or not, depending on what ran before it.
    """
    settings = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}
    if any(os.environ.get(name) != value for name, value in settings.items()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], {**os.environ, **settings})


def time_call(call: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def table(rows: Sequence[Row], relation: Callable[[float, float], str], heading: str) -> str:
    """The rows as text. `relation` compares the first column with each of the others, under `heading`.

    The columns are those of the first row; another row may lack some.
    """
    columns = list(rows[0].seconds)
    first, others = columns[0], columns[1:]
    lines = [["", *columns, *(f"{heading} {other}" for other in others), "limit"]]
    for row in rows:
        found = row.seconds
        relations = [relation(found[first], found[other]) if other in found else "-" for other in others]
        times = [spell(found[column]) if column in found else "-" for column in columns]
        lines.append([row.name, *times, *relations, row.limit])
    first_width, *widths = (max(map(len, cells)) for cells in zip(*lines, strict=True))
    return "\n".join(
        "  ".join([name.ljust(first_width), *map(str.rjust, cells, widths)]).rstrip() for name, *cells in lines
    )


def spell(seconds: float) -> str:
    """A duration in the unit that fits: `35 ns`, `2.08 us`, `12.4 ms`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def write_json(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows to `path`, one a line, times in seconds to four digits."""
    rounded = [replace(row, seconds={name: float(f"{time:.3e}") for name, time in row.seconds.items()}) for row in rows]
    lines = ",\n".join(json.dumps(asdict(row)) for row in rounded)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
