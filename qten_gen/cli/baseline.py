"""A baseline: the warnings that a repository begins with, in a file that is committed, so that only others are reported.

The file has a line for each, with the path from its own folder, the code and the message, and without line numbers: it stays as
it is while code moves, and two branches that mend different warnings merge.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..project.apply import Change, write
from ..report.concise import visible
from .options import UsageError

if TYPE_CHECKING:
    from ..model.diagnostics import Diagnostic
    from .options import Options


def beyond_baseline(found: Sequence[Diagnostic], options: Options) -> tuple[Diagnostic, ...]:
    """Findings that the baseline of a command line does not list, once `--write-baseline` has written it, and all errors.

    Raises:
        UsageError: The file cannot be read or written.
    """
    path = options.write_baseline or options.baseline
    if path is None:
        return tuple(found)
    entries = [None if item.is_error else _entry(item, path) for item in found]
    try:
        if options.write_baseline is not None:
            _write(path, sorted(entry for entry in entries if entry is not None))
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


def _write(path: str, entries: Sequence[str]) -> None:
    text = "".join(f"{entry}\n" for entry in entries)
    write(Change(path, None, text.encode()))
