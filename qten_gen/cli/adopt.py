"""The command `qten-gen adopt`, which makes classes of qten_gen of existing ones."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from time import perf_counter
from typing import TextIO

from ..project.apply import Change, diff, remove_leftovers, write
from ..project.files import Texts, project_of
from ..project.paths import leads_below, read_all, read_regular
from ..report.concise import headline
from ..tools.adopt import records
from ..tools.adopt.adopting import adopt as adopt_sources
from ..tools.adopt.opening import Sources
from ..tools.adopt.records import Level, Outcome, lines_of, summary
from . import DONE, FOUND, MISUSE
from .options import Options


def adopt(options: Options, out: TextIO, err: TextIO) -> int:
    """Adopt the classes below the given paths, or report it; return the exit status.

    Raises:
        PathError: A path cannot be used.
        ConfigError: The settings of a project cannot be used.
    """
    started = perf_counter()
    project = project_of(options.paths)
    read = Texts.of(project.files)
    outputs, locked = read_all(project.files.outputs)[0], list(filter(_is_locked, read.targets))
    wanted = records.Options(Level(options.level), options.dataclasses)
    # The parser creates millions of objects that live to the end. Collecting garbage among them takes a tenth of the time.
    gc.disable()
    try:
        found = adopt_sources(Sources.of(read.texts, read.origins, read.targets, outputs, locked), wanted)
    finally:
        gc.enable()
    changes = [Change(path, read.texts[path], data) for path, data in sorted(found.texts.items())]
    failures = read.failures
    if options.write:
        remove_leftovers(project.files.leftovers)
        failures += _write(changes, project.paths)
    _print(found, changes, options, perf_counter() - started, out, err)
    err.writelines(f"error: {failure}\n" for failure in failures)
    return MISUSE if failures else FOUND if found.problems else DONE


def _is_locked(path: str) -> bool:
    """True if a file or its folder is read-only. The superuser could write it all the same, but somebody has asked not to."""
    real = os.path.realpath(path)
    may_write = os.access(real, os.W_OK) and os.access(os.path.dirname(real), os.W_OK)
    return not may_write or not os.stat(real).st_mode & 0o222


def _write(changes: Sequence[Change], paths: Sequence[str]) -> list[str]:
    """Make the changes, each whole or not at all, and return what went wrong.

    A file that somebody has just changed stays, and so does one outside `paths` that a link leads to.
    """
    failures: list[str] = []
    written: set[str] = set()
    for change in changes:
        real = os.path.realpath(change.path)
        if real in written:
            continue  # a link to a file that this run has changed
        if not leads_below(change.path, paths):
            failures.append(
                f"{change.path}: it is a link to {real}, outside the given paths; name that file to edit it"
            )
            continue
        try:
            if read_regular(change.path) != change.old:
                failures.append(f"{change.path}: it has changed meanwhile; run the command again")
                continue
            write(change._replace(path=real))  # writing over a link would replace it with a copy
            written.add(real)
        except OSError as error:
            failures.append(f"{change.path}: cannot write it: {error.strerror}")
    return failures


def _print(
    outcome: Outcome, changes: Sequence[Change], options: Options, seconds: float, out: TextIO, err: TextIO
) -> None:
    """Print the report, or the diff, beside which standard output contains nothing else."""
    messages = err if options.diff else out
    messages.writelines(f"{headline(item, color=options.color.enabled(messages))}\n" for item in outcome.problems)
    if options.diff:
        out.writelines(diff(changes))
    elif not options.quiet:
        out.writelines(f"{line}\n" for line in lines_of(outcome, options.verbose, options.color.enabled(out)))
    messages.writelines(f"{line}\n" for line in summary(outcome, options.write, seconds))
