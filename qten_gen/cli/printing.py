"""Prints the outcome of a run: diagnostics, the changes or their diff, failures, and the summary.

With `--diff` or a format that is one document, standard output contains the diff or the document and nothing else. Otherwise it
contains everything except failures and bugs, which go to standard error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from ..project.apply import Change
from ..project.config import Config
from ..project.output_names import source_of
from ..run.run import Outcome
from .options import GenerateOptions, lists_stale_files, output_format
from .summary import summary

if TYPE_CHECKING:
    from ..model.diagnostics import Diagnostic
    from ..report import StaleFile


def print_outcome(
    outcome: Outcome,
    options: GenerateOptions,
    config: Config,
    seconds: float,
    out: TextIO,
    err: TextIO,
    mended: Sequence[Diagnostic] = (),
    at: str = "",
) -> None:
    """Print the outcome of a run that took `seconds` seconds, and what `--fix` has mended. The last line begins with `at`."""
    outcome = _beyond_baseline(outcome, options)
    form = output_format(options, config)
    messages = err if options.mode == "diff" or form == "json" else out
    _print_diagnostics(outcome, options, form, err if options.mode == "diff" else out)
    if options.mode == "diff":
        from ..project.apply import diff

        out.writelines(_coloured(diff(outcome.changes)) if options.color.enabled(out) else diff(outcome.changes))
    elif not options.quiet:
        _print_changes(outcome, options, messages)
    if not options.quiet:
        messages.writelines(f"fixed: {_shown(item.path)}:{item.span.line}: {_shown(item.message)}\n" for item in mended)
    for failure in outcome.failures:
        err.write(f"error: {_shown(failure.path)}: {failure.problem}\n")
    if outcome.crashes:
        from .faults import print_faults

        print_faults((f"{crash.stage} {crash.path}\n{crash.traceback}" for crash in outcome.crashes), err)
    if not options.quiet:
        messages.write(f"{at}{summary(outcome, options.mode, seconds)}\n")


def _beyond_baseline(outcome: Outcome, options: GenerateOptions) -> Outcome:
    if options.baseline is None and options.write_baseline is None:
        return outcome
    from .baseline import beyond_baseline

    return outcome._replace(diagnostics=beyond_baseline(outcome.diagnostics, options))


def _coloured(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a diff in the colours of git."""
    from ..report.concise import BOLD, GREEN, RED, TURQUOISE, painted

    styles = {"---": BOLD, "+++": BOLD, "@@ ": TURQUOISE, "-": RED, "+": GREEN}
    for line in lines:
        style = next((style for start, style in styles.items() if line.startswith(start)), None)
        yield line if style is None else f"{painted(line.removesuffix(chr(10)), style, True)}\n"


def _print_diagnostics(outcome: Outcome, options: GenerateOptions, form: str, out: TextIO) -> None:
    """Print the diagnostics, with `--quiet` only the errors. A document is printed even if there are none."""
    shown = [item for item in outcome.diagnostics if item.is_error or not options.quiet]
    stale = _stale_files(outcome) if lists_stale_files(form, options) else ()
    if shown or stale or form == "json":
        from ..report import report
        from .checkout import from_top

        found, files = from_top(form, shown, stale)
        color = options.color.enabled(out)
        out.write(report(form, found, files, color=color))
        if form == "full":
            out.write("\n")


def _stale_files(outcome: Outcome) -> Sequence[StaleFile]:
    """The files that are out of date, or were until the run wrote them."""
    from ..report import StaleFile

    return [
        StaleFile(item.path, source_of(item.path), item.kind, outcome.reasons.get(item.path, ""))
        for item in outcome.changes
    ]


def _print_changes(outcome: Outcome, options: GenerateOptions, out: TextIO) -> None:
    """Print a line for each output that is out of date with `--check`, or was changed with `--verbose`."""
    for change in outcome.changes:
        reason = f" ({outcome.reasons[change.path]})" if options.verbose and change.path in outcome.reasons else ""
        if options.mode == "check":
            out.write(f"{change.kind}: {_shown(change.path)}{reason or _edited(change)}\n")
        elif options.verbose:
            out.write(f"{'removed' if change.new is None else 'written'}: {_shown(change.path)}{reason}\n")
    for path in outcome.blocked:
        out.write(f"held back: {_shown(path)} (depends on a file with errors)\n")
    if options.mode == "check" and outcome.changes:
        from shlex import join

        command = join(["qten-gen", *options.paths])
        out.write(f"help: run {command}, and commit what it writes\n")


def _shown(text: str) -> str:
    from ..report.concise import visible

    return visible(text)


def _edited(change: Change) -> str:
    from ..common.header import read_header

    header = read_header(change.old or b"")
    return " (edited by hand, or merged)" if change.kind == "stale" and header is not None and not header.intact else ""
