"""A long run: `python -m tests.fuzz --seconds 600`, and `--seed 1234` for one project, which is printed."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
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
    parser.add_argument("--seed", type=int, help="print and check one project")
    options = parser.parse_args()
    if options.seed is not None:
        print(*(f"# {source.name}.py\n{source.text}" for source in project(options.seed)), sep="\n")
    at = int(time.time()) if options.seed is None else options.seed
    end, count, broken, done = time.monotonic() + options.seconds, 1 if options.seed is not None else BATCH, 0, 0
    while not done or (options.seed is None and time.monotonic() < end):
        with tempfile.TemporaryDirectory() as folder:
            broken += _broken(range(at + done, at + done + count), Path(folder))
        done += count
    print(f"{done} projects from seed {at}: {broken} broken")
    return 1 if broken else 0


def _broken(seeds: range, folder: Path) -> int:
    """Check the projects with these seeds, then the sound ones with type checkers; the number of those that break a law."""
    sound: dict[int, Project] = {}
    broken = 0
    for seed in seeds:
        sources = project(seed)
        try:
            assert_only_declares(planned(with_hostile_text(sources, Random(seed))))
            made = check(sources, folder / "run")
        except Exception:
            broken += 1
            print(f"seed {seed}: {traceback.format_exc(limit=-3)}", flush=True)
            continue
        if not any(item.is_error for item in made.diagnostics):
            sound[seed] = sources, {path: text for path, text in made.outputs.items() if text is not None}
    found = wrong(sound, folder / "checked") if sound else {}
    for seed, messages in found.items():
        print(f"seed {seed}:", *messages, sep="\n  ", flush=True)
    return broken + len(found)


if __name__ == "__main__":
    sys.exit(main())
