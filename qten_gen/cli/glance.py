"""Prints the summary of the last run again if nothing has changed since, before anything is imported that a run needs."""

from __future__ import annotations

from ..project.glance import recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from ..project.unchanged import Glance
    from ..run.run import Outcome

_QUIET = ("-q", "--quiet")
_PLAIN = ("--check", *_QUIET)
"""Options that change nothing in what a run says that has nothing to do, but whether it says it."""

_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes may get the same time."""


def print_remembered(arguments: Sequence[str], started: float, out: TextIO) -> bool:
    """Print the summary of the last run, if it is known and nothing has changed since. Give whether that was so."""
    from time import perf_counter

    paths = list(arguments)
    is_quiet = False
    while paths and paths[0] in _PLAIN:
        is_quiet |= paths.pop(0) in _QUIET
    if any(path.startswith("-") or not path for path in paths):
        return False
    summary = recall(paths)
    if summary is not None and not is_quiet:
        out.write(f"{summary} in {perf_counter() - started:.2f}s\n")
    return summary is not None


def remember(outcome: Outcome, glance: Glance, paths: Sequence[str], began: int) -> None:
    """Write what `print_remembered` prints and compares. `began` is the time before anything was read, in nanoseconds."""
    from ..project import manifest
    from ..project.glance import NAME, text_of
    from .summary import said

    text = text_of(paths, said(outcome, "write"), glance.probes, glance.listings, began - _CLOCK)
    if text is not None:
        manifest.write(glance.cache, NAME, text)
