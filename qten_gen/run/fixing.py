"""Carries out `qten-gen --fix`: mends sources, and runs again until nothing is left that a rule can mend."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from ..common.records import replace
from ..generate.fixing import CannotRewrite, fixed
from ..model.diagnostics import Diagnostic
from ..project.apply import Change, write
from ..project.paths import leads_below, read_regular
from .run import Outcome

_ROUNDS = 10
"""A fix can bring another mistake to light, but not for ever."""


def fix(outcome: Outcome, paths: Sequence[str], again: Callable[[], Outcome]) -> tuple[Outcome, tuple[Diagnostic, ...]]:
    """Mend the sources below the paths, and return the outcome of the last run with what was mended.

    Args:
        outcome: That of the first run.
        paths: The paths of the run. A file elsewhere that they depend on is not changed.
        again: Runs once more.

    Raises:
        OSError: A source cannot be written.
    """
    done: list[Diagnostic] = []
    staying: dict[str, CannotRewrite] = {}
    for _ in range(_ROUNDS):
        sure = [item for item in outcome.diagnostics if item.fix is not None and item.fix.is_sure]
        found = [item for item in sure if leads_below(item.path, paths)]
        sources = {path: read_regular(path) for path in {item.path for item in found}}
        mended = fixed(found, sources)
        staying = {path: data for path, data in mended.items() if isinstance(data, CannotRewrite)}
        changed = {path: data for path, data in mended.items() if isinstance(data, bytes) and data != sources[path]}
        if not changed:
            break
        for path, data in sorted(changed.items()):
            write(Change(os.path.realpath(path), sources[path], data))  # a link stays one
        outcome = again()
        left = {(item.path, item.code, item.message) for item in outcome.diagnostics}
        done += [item for item in found if (item.path, item.code, item.message) not in left]
    diagnostics = tuple(_with_reason(item, staying) for item in outcome.diagnostics)
    return outcome._replace(diagnostics=diagnostics), tuple(done)


def _with_reason(item: Diagnostic, staying: Mapping[str, CannotRewrite]) -> Diagnostic:
    """A finding that could be mended, with why its file stays."""
    if item.fix is None or item.path not in staying:
        return item
    return replace(item, notes=(*item.notes, f"--fix leaves the file as it is: {staying[item.path]}"))
