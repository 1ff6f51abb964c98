"""Prints the outcome of a run: diagnostics, the changes or their diff, failures, and the summary.

With `--diff` or the format `json`, standard output contains the diff or the JSON document and nothing else. Otherwise it contains
everything except failures and bugs, which go to standard error.
"""

from __future__ import annotations

import os
from typing import TextIO

from ..project.config import Config
from .options import Options
from .run import Outcome
from .summary import summary


def print_outcome(outcome: Outcome, options: Options, config: Config, seconds: float, out: TextIO, err: TextIO) -> None:
    """Print the outcome of a run that took `seconds` seconds."""
    form = options.output_format or config.output_format or _default_format()
    messages = err if options.mode == "diff" or form == "json" else out
    _print_diagnostics(outcome, options, form, err if options.mode == "diff" else out)
    if options.mode == "diff":
        from ..project.apply import diff

        out.writelines(diff(outcome.changes))
    elif not options.quiet:
        _print_changes(outcome, options, messages)
    for failure in outcome.failures:
        err.write(f"error: {failure.path}: {failure.problem}\n")
    if outcome.crashes:
        from .faults import print_faults

        print_faults((f"{crash.stage} {crash.path}\n{crash.traceback}" for crash in outcome.crashes), err)
    if not options.quiet:
        messages.write(f"{summary(outcome, options.mode, seconds)}\n")


def _default_format() -> str:
    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full"


def _print_diagnostics(outcome: Outcome, options: Options, form: str, out: TextIO) -> None:
    """Print the diagnostics, with `--quiet` only the errors. A JSON document is printed even if there are none."""
    shown = [item for item in outcome.diagnostics if item.is_error or not options.quiet]
    if shown or form == "json":
        from ..report import report

        out.write(report(form, shown, color=options.color.enabled(out)))
        if form == "full":
            out.write("\n")


def _print_changes(outcome: Outcome, options: Options, out: TextIO) -> None:
    """Print a line for each output that is out of date with `--check`, or was changed with `--verbose`."""
    if options.mode == "check":
        from ..project.header import read_header

        for change in outcome.changes:
            header = read_header(change.old or b"")
            edited = change.kind == "stale" and header is not None and not header.intact
            out.write(f"{change.kind}: {change.path}{' (edited by hand)' if edited else ''}\n")
    elif options.verbose:
        for change in outcome.changes:
            out.write(f"{'removed' if change.new is None else 'written'}: {change.path}\n")
    for path in outcome.blocked:
        out.write(f"held back: {path} (depends on a file with errors)\n")
