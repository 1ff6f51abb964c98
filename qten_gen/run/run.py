"""Runs the generator: finds the files, plans the stale ones, writes the changes, and saves the cache.

A run over an unchanged tree loads only this module and what it imports at the top, so these use the standard library alone. The
generator itself (`generate`) is imported when there is something to read or to generate.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..project import cache
from ..project.apply import Change, changes, remove_leftovers, write
from ..project.files import Listed, PathError, Project, ProjectFiles, discover
from ..project.output_names import outputs_of, source_of
from ..project.paths import read_output

if TYPE_CHECKING:
    from ..generate.plan import Plan
    from ..generate.readings import Crash, Readings
    from ..model.diagnostics import Diagnostic
    from ..project.scan import Origin
    from ..project.sources import Failure
    from ..project.stale import ProjectState

_ATTEMPTS = 3
"""How often a run begins again because a source has changed meanwhile."""


class Outcome(NamedTuple):
    """The findings and changes of a run. With `writes` off, `changes` are what it would write."""

    sources: int
    up_to_date: int
    changes: tuple[Change, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    crashes: tuple[Crash, ...] = ()


def run(project: Project, writes: bool = True) -> Outcome:
    """Generate the code for the declarations of a project below its paths. With `writes` off, change no file.

    Raises:
        PathError: A source changes again and again during the run.
    """
    # The cache and the parser create many objects that live to the end. Looking for garbage among them takes long.
    collects = gc.isenabled()
    gc.disable()
    try:
        return _run(project, writes)
    finally:
        if collects:
            gc.enable()


class _Changed(Exception):
    """A source is not as it was when the run began; the text is its path. Nothing has been written yet."""


def _run(project: Project, writes: bool) -> Outcome:
    """Generate the code. If a source changes meanwhile, begin again."""
    path, config = "", project.config
    for _ in range(_ATTEMPTS):
        try:
            outcome = _attempt(project, writes)
        except _Changed as changed:
            path = str(changed)
            project = project._replace(files=discover(project.paths, config))
        else:
            if not outcome.diagnostics or not (config.severity or config.per_file_ignores):
                return outcome
            from ..project.judging import judged

            return outcome._replace(diagnostics=judged(outcome.diagnostics, config))
    raise PathError(f"{path} changed while qten-gen was reading it; run qten-gen again")


def _attempt(project: Project, writes: bool, undeclared: frozenset[str] = frozenset()) -> Outcome:
    """Generate the code for the files of a project, as they are now.

    The next run does not read a source that nothing was generated for in this one. So a source that was read only because of its
    outputs, which go now, is `undeclared`, and all begins again.

    Raises:
        _Changed: A source has changed since the files were listed.
    """
    began, config = time.time_ns(), project.config
    root = os.path.abspath(config.root)
    listed = Listed.of(project.files, config, project.paths)
    last = None if undeclared else cache.last_snapshot(root, listed.names)
    if last is not None and last.files == listed.files:
        return Outcome(_targets(project.files), last.up_to_date, (), _warnings(last.warnings))
    from ..project.stale import cache_after, project_state
    from .next_run import fresh_after, snapshot

    state = project_state(project.files, root, config, _parse, undeclared=undeclared, has_same_names=last is not None)
    if writes:
        remove_leftovers(project.files.leftovers)
    if not (state.stale or state.orphans):
        cache.save(root, cache_after(state, state.fresh, None), snapshot(state, config, listed, began, last))
        return Outcome(_targets(state.files), state.up_to_date, (), _fresh_warnings(state), (), state.failures)
    planned, readings, existing = _planned(state)
    losing = {source_of(path) for path, text in planned.outputs.items() if text is None}.intersection(state.stale)
    found = {path for path in losing if not state.graph.scans[path].mentions} - undeclared
    if found:
        return _attempt(project._replace(files=state.files), writes, undeclared | found)
    outcome = _written(state, planned, existing, writes)
    pending = {failure.path for failure in outcome.failures}
    pending |= set() if writes else {change.path for change in outcome.changes}
    fresh = {**state.fresh, **fresh_after(state, planned, pending)}
    # It left something to do, or changed files since they were listed: the next run may not take this list for its own.
    seen = snapshot(state, config, listed._replace(files=""), began, last)
    cache.save(root, cache_after(state, fresh, readings), seen)
    return outcome


def _parse(data: bytes, path: str, origin: Origin) -> tuple[str, bytes | None]:
    """The digest of what a source says, and the parsed source, from its bytes."""
    from ..generate.parsed import parsed_source

    return parsed_source(data, path, origin)


def _planned(state: ProjectState) -> tuple[Plan, Readings, Mapping[str, bytes]]:
    """The plan for the stale targets, with the reader that it took and the outputs that exist.

    The outputs that no source has any more are removed in it.

    Raises:
        _Changed: The bytes of a source that were read are not the ones of its record.
    """
    from ..generate.plan import plan
    from ..generate.readings import Readings
    from ..project.files import SourceTexts
    from ..project.stale import torn_sources

    readings = Readings(SourceTexts(state.graph.origins), state.graph, state.parsed)
    readings.sound = {path: record.lookups for path, record in state.fresh.items()}
    outputs = [output for path in state.stale for output in outputs_of(path) if output in state.files.outputs]
    existing = {path: read_output(path) for path in outputs}
    rendered = {path: record.fingerprint for path, record in state.rendered.items()}
    planned = plan(readings.sources, existing, state.stale, state.graph, readings, rendered)
    for path in torn_sources(state, readings):
        raise _Changed(path)
    planned.outputs.update(dict.fromkeys(state.orphans))
    return planned, readings, {**existing, **state.orphans}


def _written(state: ProjectState, planned: Plan, existing: Mapping[str, bytes], writes: bool) -> Outcome:
    """Write the changes if `writes` is on, and return the outcome."""
    from ..project.sources import Failure

    found = changes(planned.outputs, existing)
    failures = list(state.failures)
    for change in found if writes else ():
        try:
            write(change)
        except OSError as error:
            action = "remove" if change.new is None else "write"
            failures.append(Failure(change.path, f"cannot {action} it: {error.strerror}"))
    failed = {failure.path for failure in failures}
    # Planned, and on the disk already.
    kept = sum(text is not None for text in planned.outputs.values()) - sum(change.new is not None for change in found)
    kept += sum(len(state.rendered[path].outputs) for path in planned.kept)
    return Outcome(
        sources=_targets(state.files),
        up_to_date=state.up_to_date + kept,
        changes=tuple(change for change in found if change.path not in failed),
        diagnostics=tuple(sorted((*planned.diagnostics, *_fresh_warnings(state)), key=lambda item: item.order)),
        blocked=planned.blocked,
        failures=tuple(failures),
        crashes=planned.crashes,
    )


def _targets(files: ProjectFiles) -> int:
    return sum(source.target for source in files.sources.values())


def _fresh_warnings(state: ProjectState) -> tuple[Diagnostic, ...]:
    """Warnings of an earlier run about targets that have not changed since."""
    return _warnings({path: record.warnings for path, record in state.fresh_targets.items() if record.warnings})


def _warnings(recorded: Mapping[str, Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Recorded warnings by file, as they were found."""
    if not recorded:
        return ()
    from ..common.records import replace
    from ..model.diagnostics import ordered

    return ordered(replace(item, path=path) for path, items in recorded.items() for item in items)
