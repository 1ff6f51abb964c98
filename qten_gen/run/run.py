"""Runs the generator: finds the files, plans the stale ones, writes the changes, and saves the cache.

A run over an unchanged tree loads only this module and what it imports at the top, so these use the standard library alone. The
generator itself (`generate`) is imported when there is something to read or to generate.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..common.header import digest
from ..project import cache
from ..project.apply import Change, changes, is_as_planned, remove_leftovers, write
from ..project.cache import NO_FILE, FreshRecord, Seen, Stamp, Stat, last_seen, status_of
from ..project.config import Config
from ..project.files import Listed, PathError, Project, ProjectFiles, discover
from ..project.output_names import outputs_of, source_of
from ..project.paths import read_output, search_path

if TYPE_CHECKING:
    from ..generate.plan import Plan
    from ..generate.readings import Crash, Readings
    from ..model.diagnostics import Diagnostic
    from ..project.libraries import Environment
    from ..project.scan import Origin
    from ..project.stale import Failure, ProjectState

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


def open_readings(state: ProjectState) -> Readings:
    """The reader of the sources of a run from the disk. The generator is imported only then, when there is something to read."""
    from ..generate.readings import Readings
    from ..project.files import SourceTexts

    return Readings(SourceTexts(state.graph.origins), state.graph, state.parsed)


def parse(data: bytes, path: str, origin: Origin) -> tuple[str, bytes | None]:
    """The digest of what a source says, and the parsed source, from its bytes."""
    from ..generate.parsed import parsed_source

    return parsed_source(data, path, origin)


def _attempt(project: Project, writes: bool, undeclared: frozenset[str] = frozenset()) -> Outcome:
    """Generate the code for the files of a project, as they are now.

    The next run does not read a source that nothing was generated for in this one. So a source that was read only because of its
    outputs, which go now, is `undeclared`, and all begins again.

    Raises:
        _Changed: A source has changed since the files were listed.
    """
    began, root = time.time_ns(), os.path.abspath(project.config.root)
    listed = Listed.of(project.files, project.config, project.paths)
    seen = None if undeclared else last_seen(root, listed.names)
    if seen is not None and seen.files == listed.files:
        return Outcome(_targets(project.files), seen.up_to_date, (), _warnings(seen.warnings))
    from ..project.stale import project_state, save

    state = project_state(
        project.files, root, project.config, parse, undeclared=undeclared, has_same_names=seen is not None
    )
    if writes:
        remove_leftovers(project.files.leftovers)
    if not (state.stale or state.orphans):
        save(state, state.fresh, None, _seen(state, project.config, listed, began, seen))
        return Outcome(_targets(state.files), _fresh_outputs(state), (), _fresh_warnings(state), (), state.failures)
    planned, readings, existing = _planned(state)
    losing = {source_of(path) for path, text in planned.outputs.items() if text is None}.intersection(state.stale)
    found = {path for path in losing if not state.graph.scans[path].mentions} - undeclared
    if found:
        return _attempt(project._replace(files=state.files), writes, undeclared | found)
    outcome, pending = _written(state, planned, existing, writes)
    found_now = {**state.fresh, **_fresh_now(state, planned, pending)}
    save(state, found_now, readings, _seen(state, project.config, listed._replace(files=""), began, seen))
    return outcome


def _seen(state: ProjectState, config: Config, listed: Listed, began: int, last: Seen | None) -> Seen | None:
    """What a run has seen; None if its outcome depends on more than what it listed.

    Args:
        state: The state that it found.
        config: The settings of the project.
        listed: The digests of what it listed; the digest of files is empty if it left something to do.
        began: When it began, in nanoseconds. What has changed just before may change again without another time.
        last: What the last run has seen.
    """
    files = state.files
    if last is None or not state.has_same_places:
        from ..project.libraries import Environment

        environment = Environment()
        if not _is_closed(state, config, environment):
            return None
        surroundings = {path: status_of(path) for path in search_path()}
        if any(max(status.modified, status.changed) >= began - cache.COARSE_CLOCK for status in surroundings.values()):
            return None  # what was installed meanwhile, this run need not have found
    else:
        surroundings = {**last.surroundings}
    statuses = [*(source.stat for source in files.sources.values()), *files.outputs.values()]
    is_old = all(max(status.modified, status.changed) < began - cache.COARSE_CLOCK for status in statuses)
    targets = {path: record for path, record in state.fresh.items() if files.sources[path].target}
    return Seen(
        listed.names,
        listed.files if is_old and not state.failures else "",
        sum(len(record.outputs) for record in targets.values()),
        {path: record.warnings for path, record in targets.items() if record.warnings},
        surroundings,
    )


def _is_closed(state: ProjectState, config: Config, environment: Environment) -> bool:
    """True if the places of files depend on nothing that a run does not list: no library, and nothing that is left out."""
    files, graph = state.files, state.graph
    if not config.has_file:
        return False
    if graph.unresolved or files.leftovers or any(each.outside for each in files.sources.values()):
        return False
    imported = {name.partition(".")[0] for found in graph.scans.values() for name in found.imports}
    own = {origin.module.partition(".")[0] for origin in graph.origins.values()}
    if any(environment.may_declare(top) for top in imported - own):
        return False  # what is there may come and go without a trace in the folders that are searched
    # An import may lead to a folder that is not listed, where nobody sees files come and go.
    hidden = {os.path.basename(path).removesuffix(".py") for path in files.unlisted}
    imports = {name for found in graph.scans.values() for name in found.imports} if hidden else set[str]()
    if any(not hidden.isdisjoint(name.split(".")) for name in imports):
        return False
    return all(f"{folder}{os.sep}".startswith(os.path.join(config.root, "")) for folder in config.import_roots)


def _planned(state: ProjectState) -> tuple[Plan, Readings, Mapping[str, bytes]]:
    """The plan for the stale targets, with the reader that it took and the outputs that exist.

    The outputs that no source has any more are removed in it.

    Raises:
        _Changed: The bytes of a source that were read are not the ones of its record.
    """
    from ..generate.plan import plan
    from ..project.stale import torn_sources

    readings = open_readings(state)
    readings.sound = {path: record.lookups for path, record in state.fresh.items()}
    outputs = [output for path in state.stale for output in outputs_of(path) if output in state.files.outputs]
    existing = {path: read_output(path) for path in outputs}
    rendered = {path: record.fingerprint for path, record in state.rendered.items()}
    planned = plan(readings.sources, existing, state.stale, state.graph, readings, rendered)
    for path in torn_sources(state, readings):
        raise _Changed(path)
    planned.outputs.update(dict.fromkeys(state.orphans))
    return planned, readings, {**existing, **state.orphans}


def _written(
    state: ProjectState, planned: Plan, existing: Mapping[str, bytes], writes: bool
) -> tuple[Outcome, Collection[str]]:
    """Write the changes if `writes` is on. Return the outcome, and the outputs that are not as planned."""
    from ..project.stale import Failure

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
    kept += sum(len(state.rendered[path].outputs) for path in _as_rendered(state, planned))
    outcome = Outcome(
        sources=_targets(state.files),
        up_to_date=_fresh_outputs(state) + kept,
        changes=tuple(change for change in found if change.path not in failed),
        diagnostics=tuple(sorted((*planned.diagnostics, *_fresh_warnings(state)), key=lambda item: item.order)),
        blocked=planned.blocked,
        failures=tuple(failures),
        crashes=planned.crashes,
    )
    return outcome, failed if writes else {change.path for change in found}


def _as_rendered(state: ProjectState, planned: Plan) -> list[str]:
    """The planned targets whose outputs were rendered from what they would be rendered from now."""
    return [path for path, record in state.rendered.items() if planned.fingerprints.get(path) == record.fingerprint]


def _targets(files: ProjectFiles) -> int:
    return sum(source.target for source in files.sources.values())


def _fresh_outputs(state: ProjectState) -> int:
    return sum(len(record.outputs) for path, record in state.fresh.items() if state.files.sources[path].target)


def _fresh_warnings(state: ProjectState) -> tuple[Diagnostic, ...]:
    """Warnings of an earlier run about targets that have not changed since."""
    fresh = {path: record for path, record in state.fresh.items() if state.files.sources[path].target}
    return _warnings({path: record.warnings for path, record in fresh.items() if record.warnings})


def _warnings(recorded: Mapping[str, Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Recorded warnings by file, as they were found."""
    if not recorded:
        return ()
    from ..common.records import replace
    from ..model.diagnostics import ordered

    return ordered(replace(item, path=path) for path, items in recorded.items() for item in items)


def _fresh_now(state: ProjectState, planned: Plan, pending: Collection[str]) -> dict[str, FreshRecord]:
    """Records of the targets that are fresh after the run: they have no error, and their outputs on disk are as planned."""
    from ..model.diagnostics import Diagnostic

    unfinished = {item.path for item in planned.diagnostics if item.is_error} | {*planned.blocked}
    unfinished |= {crash.path for crash in planned.crashes}
    unfinished |= {source_of(path) for path in pending}
    warnings: dict[str, list[Diagnostic]] = {}
    for item in planned.diagnostics:
        stored = Diagnostic(item.kind, item.message, help=item.help, notes=item.notes, span=item.span)
        warnings.setdefault(item.path, []).append(stored)
    as_rendered = {*_as_rendered(state, planned)}
    now = time.time_ns()
    fresh = {}
    for path in state.stale:
        if path in unfinished or path not in planned.lookups:
            continue
        outputs = (
            state.rendered[path].outputs
            if path in as_rendered
            else {
                os.path.basename(output): _signature(output, text, now)
                for output in outputs_of(path)
                if (text := planned.outputs.get(output)) is not None
            }
        )
        lookups = tuple(sorted(planned.lookups[path]))
        found = tuple(warnings.get(path, ()))
        fresh[path] = FreshRecord(lookups, outputs, planned.fingerprints.get(path, ""), found)
    return fresh


def _signature(output: str, text: str, now: int) -> Stamp:
    """The signature of an output with the text that was planned; `NO_FILE` if somebody has changed it since."""
    try:
        status = os.stat(output)
    except OSError:
        return NO_FILE
    data = read_output(output)
    return Stamp.of(Stat.of(status), digest(data), now) if is_as_planned(data, text.encode()) else NO_FILE
