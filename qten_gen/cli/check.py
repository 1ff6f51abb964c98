"""The command `qten-gen check`, which finds mistakes in plain modules. It reads their text, and changes nothing."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import TextIO

from ..common.records import replace
from ..model.diagnostics import Diagnostic
from ..project.apply import Change, write
from ..project.files import Texts, project_of
from ..project.judging import judged
from ..report import report
from ..report.concise import visible
from ..tools.adopt.opening import Sources
from ..tools.check.plain_modules import check as check_sources
from . import DONE, FOUND, MISUSE
from .options import Options, UsageError, output_format
from .printing import count, shown_path


def check(options: Options, out: TextIO, err: TextIO) -> int:
    """Print what is found, and return 1 if anything is.

    Raises:
        PathError: A path cannot be used.
        ConfigError: The settings of a project cannot be used.
        UsageError: The baseline cannot be read or written.
    """
    started = perf_counter()
    project = project_of(options.paths)
    read = Texts.of(project.files)
    gc.disable()  # the parser creates many objects that live to the end
    try:
        checked = check_sources(Sources.of(read.texts, read.origins, read.targets))
    finally:
        gc.freeze()  # nor is there garbage in what it leaves
        gc.enable()
    new = _beyond_baseline(judged(checked.findings, project.config), options)
    form = output_format(options)
    if (new and not options.quiet) or form == "json":
        shown = [replace(item, path=shown_path(item.path, form)) for item in new]
        out.write(report(form, shown, color=options.color.enabled(out)))
        out.write("\n" if form == "full" else "")
    err.writelines(f"error: {failure}\n" for failure in read.failures)
    counts = f"{count(len(new), 'finding')} in {count(checked.classes, 'module')} of {count(checked.files, 'file')}"
    if not (checked.classes or new):
        counts = f"no plain modules in {count(len(read.targets), 'file')}; qten-gen checks declared ones,"
    (err if form == "json" else out).write(f"{counts} in {perf_counter() - started:.2f}s\n")
    return MISUSE if read.failures else FOUND if new else DONE


def _beyond_baseline(found: Sequence[Diagnostic], options: Options) -> tuple[Diagnostic, ...]:
    """Findings that the baseline of a command line does not list, once `--write-baseline` has written it, and all errors.

    A baseline has the warnings that a repository begins with. It is committed, and has no line numbers: it stays as it is while
    code moves, and two branches that mend different warnings merge.

    Raises:
        UsageError: The file cannot be read or written.
    """
    path = options.write_baseline or options.baseline
    if path is None:
        return tuple(found)
    entries = [None if item.is_error else _entry(item, path) for item in found]
    try:
        if options.write_baseline is not None:
            text = "".join(f"{entry}\n" for entry in sorted(filter(None, entries)))
            write(Change(path, None, text.encode()))
        with open(path, encoding="utf-8") as file:
            listed = Counter(file.read().splitlines())
    except OSError as error:
        advice = "" if options.write_baseline else "; --write-baseline writes it"
        raise UsageError(f"cannot use the baseline {path}: {error.strerror}{advice}") from None
    new = []
    for item, entry in zip(found, entries, strict=True):
        if entry is not None and listed[entry]:
            listed[entry] -= 1
        else:
            new.append(item)
    return tuple(new)


def _entry(item: Diagnostic, baseline: str) -> str:
    """The line of a warning: `src/net.py QG502 Net has no attribute size`."""
    path = os.path.relpath(item.path, os.path.dirname(os.path.abspath(baseline)))
    return visible(f"{path.replace(os.sep, '/')} {item.code} {item.message}")
