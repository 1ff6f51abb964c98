"""A long run: `python -m tests.fuzz --seconds 600`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from .grammar import project
from .laws import Broken, check


def main() -> int:
    """Check projects until the time is over; print what breaks a law with the seed that makes it again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--stop", type=int, default=20)
    options = parser.parse_args()
    if options.seed is not None:
        for source in project(options.seed):
            print(f"# {source.name}.py\n{source.text}")
    counts: Counter[str] = Counter()
    end, seed = time.monotonic() + options.seconds, options.start
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and counts["broken"] < options.stop:
            number = seed if options.seed is None else options.seed
            sources = project(number)
            counts["files"] += len(sources)
            try:
                made = check(sources, Path(folder))
            except Broken as broken:
                counts["broken"] += 1
                print(f"seed {number}: {broken}")
                if options.seed is not None:
                    traceback.print_exc()
            except Exception as error:
                counts["broken"] += 1
                print(f"seed {number}: {type(error).__name__}: {error}")
                if options.seed is not None:
                    traceback.print_exc()
            else:
                refused = [item for item in made.diagnostics if item.is_error]
                counts["refused" if refused else "sound"] += 1
                counts.update(f"{item.kind.code} {item.kind.name}" for item in refused)
                if options.seed is not None:
                    print(refused)
            if options.seed is not None:
                break
            seed += 1
    print(f"{seed - options.start} projects:", ", ".join(f"{n} {what}" for what, n in counts.most_common()))
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
