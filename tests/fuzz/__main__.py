"""A long run: `python -m tests.fuzz --seconds 600`, and `--seed 1234` for one project."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

from tests.generate.hostile import assert_only_declares

from .checkers import Project, wrong
from .grammar import project, with_hostile_text
from .laws import check, planned

BATCH = 150
"""The number of projects that each run of the type checkers sees."""


def main() -> int:
    """Check projects until the time is over; print what breaks a law, with the seed that makes it again."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=60, help="how long to go on")
    parser.add_argument("--start", type=int, default=int(time.time()), help="the first seed")
    parser.add_argument("--seed", type=int, help="print and check one project")
    parser.add_argument("--no-checkers", action="store_true", help="leave out mypy and pyright")
    options = parser.parse_args()
    if options.seed is not None:
        for source in project(options.seed):
            print(f"# {source.name}.py\n{source.text}")
    counts: Counter[str] = Counter()
    end, start, count = time.monotonic() + options.seconds, options.start, BATCH
    if options.seed is not None:
        end, start, count = time.monotonic(), options.seed, 1
    with tempfile.TemporaryDirectory() as folder:
        while True:
            batch = Path(folder) / str(start)
            _run(range(start, start + count), end, counts, batch, checkers=not options.no_checkers)
            start += count
            if time.monotonic() >= end:
                break
    print(f"from seed {options.start}:", ", ".join(f"{number} {what}" for what, number in counts.most_common()))
    return 1 if counts["broken"] else 0


def _run(seeds: range, end: float, counts: Counter[str], folder: Path, *, checkers: bool) -> None:
    """Check the projects with these seeds, the first and what follows until the end, then all of them with type checkers."""
    sound: dict[int, Project] = {}
    for seed in seeds:
        if counts["projects"] and time.monotonic() > end:
            break
        sources = project(seed)
        counts["projects"] += 1
        counts["files"] += len(sources)
        counts["declarations"] += sum(source.text.count("\nclass ") for source in sources)
        try:
            assert_only_declares(planned(with_hostile_text(sources, Random(seed))))
            made = check(sources, folder / "run")
        except Exception:
            counts["broken"] += 1
            print(f"seed {seed}: {traceback.format_exc(limit=-3)}", flush=True)
            continue
        errors = [item for item in made.diagnostics if item.is_error]
        counts["refused" if errors else "sound"] += 1
        if not errors:
            sound[seed] = sources, {path: text for path, text in made.outputs.items() if text is not None}
    if checkers and sound:
        found = wrong(sound, folder / "checked")
        counts["seen by checkers"] += len(sound)
        counts["broken"] += len(found)
        for seed, messages in found.items():
            print(f"seed {seed}:", *messages, sep="\n  ", flush=True)


if __name__ == "__main__":
    sys.exit(main())
