"""Prints the outcome of a run: diagnostics, the changes or their diff, failures, and the summary.

With `--diff` or a format that is one document, standard output contains the diff or the document and nothing else. Otherwise it
contains everything except failures and bugs, which go to standard error.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TextIO

from .. import __version__
from ..project.output_names import source_of
from ..project.paths import relative_to
from ..run.run import Outcome
from .options import Options, output_format


def print_outcome(
    outcome: Outcome,
    options: Options,
    seconds: float,
    out: TextIO,
    err: TextIO,
    at: str = "",
) -> None:
    """Print the outcome of a run that took `seconds` seconds. The last line begins with `at`."""
    form = output_format(options)
    messages = err if options.mode == "diff" or form == "json" else out
    _print_diagnostics(outcome, options, form, err if options.mode == "diff" else out)
    if options.mode == "diff":
        from ..project.apply import diff

        out.writelines(diff(outcome.changes))
    elif not options.quiet:
        _print_changes(outcome, options, messages)
    for failure in outcome.failures:
        err.write(f"error: {_shown(failure.path)}: {failure.problem}\n")
    if outcome.crashes:
        print_faults((f"{crash.stage} {crash.path}\n{crash.traceback}" for crash in outcome.crashes), err)
    if not options.quiet:
        messages.write(f"{at}{summary(outcome, options.mode, seconds)}\n")


def _print_diagnostics(outcome: Outcome, options: Options, form: str, out: TextIO) -> None:
    """Print the diagnostics, with `--quiet` only the errors. A document is printed even if there are none."""
    shown = [item for item in outcome.diagnostics if item.is_error or not options.quiet]
    lists = form == "json" or (form == "github" and options.mode != "write")
    stale = outcome.changes if lists else ()
    if shown or stale or form == "json":
        from ..common.records import replace
        from ..report import StaleFile, report

        paths = [shown_path(item.path, form) for item in stale]
        files = [StaleFile(path, source_of(path), item.kind) for path, item in zip(paths, stale, strict=True)]
        found = [replace(item, path=shown_path(item.path, form)) for item in shown]
        out.write(report(form, found, files, color=options.color.enabled(out)))
        out.write("\n" if form == "full" else "")


def _print_changes(outcome: Outcome, options: Options, out: TextIO) -> None:
    """Print a line for each output that is out of date with `--check`, or was changed with `--verbose`."""
    from ..common.header import read_header

    for change in outcome.changes:
        if options.mode == "check":
            header = read_header(change.old or b"")
            edited = change.kind == "stale" and header is not None and not header.intact
            reason = " (edited by hand, or merged)" * edited
            out.write(f"{change.kind}: {_shown(change.path)}{reason}\n")
        elif options.verbose:
            out.write(f"{'removed' if change.new is None else 'written'}: {_shown(change.path)}\n")
    for path in outcome.blocked:
        out.write(f"held back: {_shown(path)} (depends on a file with errors)\n")
    if options.mode == "check" and outcome.changes:
        from shlex import join

        command = join(["qten-gen", *options.paths])
        out.write(f"help: run {command}, and commit what it writes\n")


def _shown(text: str) -> str:
    from ..report.concise import visible

    return visible(text)


def print_faults(tracebacks: Iterable[str], err: TextIO) -> None:
    """Print the tracebacks of bugs in qten-gen, and what to report."""
    for text in tracebacks:
        err.write(f"{text.rstrip()}\n\n")
    import platform

    err.write(
        "error: this is a bug in qten-gen, not in your code. Nothing was written for the file.\n"
        "Please report it to the maintainers, with the text above and the source file.\n"
        f"qten-gen {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    )


def shown_path(path: str, form: str) -> str:
    """A path as a format needs it: GitHub's counts from the top of the checkout, wherever in it a run starts."""
    top = os.environ.get("GITHUB_WORKSPACE")
    below = relative_to(path, top) if top and form == "github" else ".."
    return path if below.startswith("..") else below


_WORDS = {
    "write": {"stale": "written", "missing": "written", "orphan": "removed"},
    "check": {"stale": "stale", "missing": "missing", "orphan": "orphaned"},
    "diff": {"stale": "to write", "missing": "to write", "orphan": "to remove"},
}
"""What is said of an output in each mode, by its state before the run."""


def summary(outcome: Outcome, mode: str, seconds: float) -> str:
    """The summary without a newline: `12 files up to date, 2 written, 1 removed in 0.21s`.

    `mode` is `write`, `check` or `diff`. Counts of zero are left out. A file that is held back has no error itself.
    """
    errors = [item for item in outcome.diagnostics if item.is_error]
    wrong = f"{count(len(errors), 'error')} in {count(len({item.path for item in errors}), 'file')}" if errors else ""
    figures = (
        (len(outcome.blocked), "file", " held back"),
        (len(outcome.crashes), "internal error", ""),
        (len(outcome.failures), "path", " failed"),
    )
    wrong = ", ".join(filter(None, [wrong, *(count(number, noun) + said for number, noun, said in figures if number)]))
    warnings = len(outcome.diagnostics) - len(errors)
    parts = (wrong, _files(outcome, mode), count(warnings, "warning") if warnings else "")
    return f"{'; '.join(filter(None, parts))} in {seconds:.2f}s"


def _files(outcome: Outcome, mode: str) -> str:
    """`12 files up to date, 2 written`. Only the first count has the noun."""
    words = _WORDS[mode]
    figures = Counter({"up to date": outcome.up_to_date, **dict.fromkeys(words.values(), 0)})
    figures.update(words[change.kind] for change in outcome.changes)
    shown = [(word, number) for word, number in figures.items() if number]
    if shown:
        (first, number), *rest = shown
        return ", ".join([f"{count(number, 'file')} {first}", *(f"{number} {word}" for word, number in rest)])
    if outcome.diagnostics or outcome.failures or outcome.crashes:
        return "nothing written" if mode == "write" else ""
    if outcome.sources == 0:
        return "no Python files found"
    return f"no declarations in {count(outcome.sources, 'Python file')}"


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
