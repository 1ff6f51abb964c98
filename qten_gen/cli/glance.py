"""Prints the outcome of the last run again if nothing has changed since, before anything is imported that a run needs."""

from __future__ import annotations

import os

from ..project.glance import recall
from . import COMMANDS
from .color import wants_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from ..project.glance import Recalled, Told
    from ..project.glance_record import Glance
    from ..run.run import Outcome

_QUIET = ("-q", "--quiet")
_PLAIN = ("--check", *_QUIET)
"""Options that change whether a run with nothing to do reports, and not the text of its report."""

_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes may get the same time."""


def plain_paths(arguments: Sequence[str]) -> list[str] | None:
    """The paths of a command line without a command that has nothing else but `--check` and `--quiet`; None for any other.

    >>> plain_paths(["--check", "src"]), plain_paths(["--diff", "src"])
    (['src'], None)
    """
    paths = list(arguments)
    if paths and paths[0] in COMMANDS:
        return None
    while paths and paths[0] in _PLAIN:
        paths.pop(0)
    return None if any(path.startswith("-") or not path for path in paths) else paths


def recalled(arguments: Sequence[str]) -> Recalled | None:
    """The memory of an earlier run with this command line that had nothing to do, if there is one."""
    paths = plain_paths(arguments)
    found = None if paths is None else recall(paths, paths[0] if paths else ".")
    has_format_of_its_own = os.environ.get("GITHUB_ACTIONS") == "true"
    return None if found is not None and found.told.plain and has_format_of_its_own else found


def still_holds(found: Recalled, began: int) -> bool:
    """Whether there is nothing to do still. `began` is the time before anything was read, in nanoseconds.

    If sources have changed that say the same, the next run compares with these.
    """
    if not found.changed:
        return True
    from ..run.unaffected import is_unaffected

    if not is_unaffected(found.root, found.told.settled, found.changed):
        return False
    if max(max(status[1:3]) for status in found.changed.values()) < began - _CLOCK:
        from ..project import manifest
        from ..project.glance import NAME

        manifest.write(found.root, NAME, found.text(began - _CLOCK))
    return True


def print_again(told: Told, arguments: Sequence[str], started: float, out: TextIO) -> None:
    """Print what a run printed."""
    from time import perf_counter

    if not any(item in _QUIET for item in arguments):
        warnings = told.coloured if told.plain and wants_color(out) else told.plain
        out.write(f"{warnings}{told.summary} in {perf_counter() - started:.2f}s\n")


def remember(outcome: Outcome, glance: Glance, paths: Sequence[str], began: int) -> None:
    """Write what `recalled` reads.

    What may have changed just before is not remembered, because the clock may not tell the next change from it.

    Args:
        outcome: That of a run.
        glance: What the run looked at.
        paths: The paths of the command line.
        began: The time before anything was read, in nanoseconds.
    """
    from ..project import manifest
    from ..project.glance import NAME, Told, text_of
    from ..project.glance_record import listings_of, newest, probes_of

    summary = _summary(outcome)
    if summary is None or newest(glance) >= began - _CLOCK:
        return
    told = Told(summary, _warnings(outcome, False), _warnings(outcome, True), glance.settled)
    text = text_of(paths, told, probes_of(glance), listings_of(glance), began - _CLOCK)
    if text is not None:
        manifest.write(glance.state.cache, NAME, text)


def _summary(outcome: Outcome) -> str | None:
    """The last line of a run and of `--check`, if it is the same."""
    from .summary import said

    summary = said(outcome, "write")
    has_errors = any(item.is_error for item in outcome.diagnostics)
    return None if has_errors or summary != said(outcome, "check") else summary


def _warnings(outcome: Outcome, color: bool) -> str:
    if not outcome.diagnostics:
        return ""
    from ..report.full import full

    return f"{full(outcome.diagnostics, color=color)}\n"
