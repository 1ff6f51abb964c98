"""The command `qten-gen check`, which finds mistakes in plain modules. It reads their text, and changes nothing."""

from __future__ import annotations

import gc
from time import perf_counter
from typing import TextIO

from ..model.diagnostics import Diagnostic
from ..project.config import Settings
from ..project.files import Texts, parts
from ..project.judging import judged
from ..report import report
from ..tools.check.plain_modules import check_again
from . import DONE, FOUND, MISUSE
from .baseline import beyond_baseline
from .options import Options, given_paths, output_format
from .printing import count, from_top


def check(options: Options, out: TextIO, err: TextIO) -> int:
    """Print what is found, and return 1 if anything is.

    Raises:
        PathError: A path cannot be used.
        ConfigError: The settings of a project cannot be used.
        UsageError: The baseline cannot be read or written.
    """
    started = perf_counter()
    settings = Settings()
    config = settings.of(options.paths[0] if options.paths else ".")
    found: list[Diagnostic] = []
    failures: list[str] = []
    classes = files = 0
    for part in parts(given_paths(options.paths, config), settings):
        read = Texts.of(part.files)
        failures += read.failures
        gc.disable()  # the parser creates many objects that live to the end
        try:
            checked = check_again(
                read.texts, read.origins, frozenset(read.targets), part.cache if part.config.root else None
            )
        finally:
            gc.enable()
        found += judged(checked.findings, part.config)
        classes, files = classes + checked.classes, files + checked.files
    new = beyond_baseline(found, options)
    form = output_format(options, config)
    if (new and not options.quiet) or form == "json":
        shown, _ = from_top(form, new, ())
        out.write(report(form, shown, color=options.color.enabled(out)))
        out.write("\n" if form == "full" else "")
    err.writelines(f"error: {failure}\n" for failure in failures)
    messages = err if form == "json" else out
    counts = f"{count(len(new), 'finding')} in {count(classes, 'module')} of {count(files, 'file')}"
    messages.write(f"{counts} in {perf_counter() - started:.2f}s\n")
    return MISUSE if failures else FOUND if new else DONE
