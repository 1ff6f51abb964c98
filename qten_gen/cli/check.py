"""The command `qten-gen check`, which finds mistakes in plain modules. It reads their text, and changes nothing."""

from __future__ import annotations

import gc
from time import perf_counter
from typing import TextIO

from ..project.files import Texts, project_of
from ..project.judging import judged
from ..report import report
from ..tools.adopt.opening import Sources
from ..tools.check.plain_modules import check as check_sources
from . import DONE, FOUND, MISUSE
from .baseline import beyond_baseline
from .options import Options, output_format
from .printing import count, from_top


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
        gc.enable()
    new = beyond_baseline(judged(checked.findings, project.config), options)
    form = output_format(options)
    if (new and not options.quiet) or form == "json":
        shown, _ = from_top(form, new, ())
        out.write(report(form, shown, color=options.color.enabled(out)))
        out.write("\n" if form == "full" else "")
    err.writelines(f"error: {failure}\n" for failure in read.failures)
    messages = err if form == "json" else out
    counts = f"{count(len(new), 'finding')} in {count(checked.classes, 'module')} of {count(checked.files, 'file')}"
    messages.write(f"{counts} in {perf_counter() - started:.2f}s\n")
    return MISUSE if read.failures else FOUND if new else DONE
