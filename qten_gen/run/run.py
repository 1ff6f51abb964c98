"""Runs the generator: finds the files, tells fresh from stale ones, plans the stale ones, and writes the changes.

A run over an unchanged tree loads only this module and what it imports at the top, so these use the standard library alone. The
generator itself (`generate`) is imported when there is something to generate.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..project.apply import Change, changes, remove_leftovers, write
from ..project.config import Config, Settings
from ..project.files import PathError, discover
from ..project.glance_record import Glance, is_closed
from ..project.import_graph import Handlers
from ..project.manifest import FreshRecord
from ..project.output_names import outputs_of, source_of
from ..project.paths import read_output
from ..project.stale import Failure, ProjectState, orphans, project_state
from ..project.walk import NONE_SEEN
from .parts import Part, parts
from .reading import open_readings
from .record import fresh_now, remember, torn
from .unaffected import settled_by

if TYPE_CHECKING:
    from ..generate.crashes import Crash
    from ..generate.plan import Plan
    from ..generate.readings import Readings
    from ..model.diagnostics import Diagnostic
    from ..project.glance import Recalled
    from ..project.output_keys import Reader


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
    reasons: Mapping[str, str] = {}
    """Why the changed outputs are out of date, by path, if a run is asked for that."""
    glance: Glance | None = None
    """The record that the next run can compare, so that it need not do more, if there was nothing to do."""


class _Manner(NamedTuple):
    """How a run goes: whether it changes files and gives reasons."""

    writes: bool
    explains: bool


def run(
    paths: Sequence[str],
    settings: Settings | None = None,
    writes: bool = True,
    explains: bool = False,
    known: Recalled | None = None,
) -> Outcome:
    """Generate the code for the declarations below the paths. With `writes` off, change no file. If it `explains`, give reasons.

    `known` is what was just seen at a glance, so that folders are not looked at again.

    Paths of several projects are generated one project after the other, each with its own settings.

    Raises:
        PathError: A path does not exist, is not a Python source, or changes again and again during the run.
        ConfigError: The settings of a project cannot be used.
    """
    settings = settings or Settings()
    manner = _Manner(writes, explains)
    # The manifest and the parser create millions of objects that live to the end. Looking for garbage among them takes long.
    collects = gc.isenabled()
    gc.disable()
    try:
        listed = NONE_SEEN if known is None else known.listed
        outcomes = [_run_part(part, settings, manner) for part in parts(paths, settings, listed)]
    finally:
        if collects:
            gc.enable()
    return outcomes[0] if len(outcomes) == 1 else _together(outcomes)


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """The findings and changes of several runs."""
    return Outcome(
        sources=sum(item.sources for item in outcomes),
        up_to_date=sum(item.up_to_date for item in outcomes),
        changes=tuple(change for item in outcomes for change in item.changes),
        diagnostics=tuple(
            sorted((found for item in outcomes for found in item.diagnostics), key=lambda item: item.order)
        ),
        blocked=tuple(path for item in outcomes for path in item.blocked),
        failures=tuple(dict.fromkeys(failure for item in outcomes for failure in item.failures)),
        crashes=tuple(crash for item in outcomes for crash in item.crashes),
        reasons={path: reason for item in outcomes for path, reason in item.reasons.items()},
    )


class _Changed(Exception):
    """A source is not as it was when the run began; the text is its path. Nothing has been written yet."""


def _run_part(part: Part, settings: Settings, manner: _Manner) -> Outcome:
    """Generate the code for the files of one project. If a source changes meanwhile, begin again."""
    path = ""
    for _ in range(_ATTEMPTS):
        try:
            return _judged(_attempt(part, manner), part.config)
        except _Changed as changed:
            path = str(changed)
            part = part._replace(files=discover(part.paths, part.config, settings))
    raise PathError(f"{path} changed while qten-gen was reading it; run qten-gen again")


def _judged(outcome: Outcome, config: Config) -> Outcome:
    """The outcome with what the settings make of its warnings."""
    if not outcome.diagnostics or not (config.severity or config.per_file_ignores):
        return outcome
    from ..project.judging import judged

    return outcome._replace(diagnostics=judged(outcome.diagnostics, config))


def _attempt(part: Part, manner: _Manner, undeclared: frozenset[str] = frozenset()) -> Outcome:
    """Generate the code for the files of one project, as they are now.

    The next run does not read a source that nothing was generated for in this one. So a source that was read only because of its
    outputs, which go now, is `undeclared`, and all begins again.

    Raises:
        _Changed: A source has changed since the files were listed.
    """
    cache = os.path.abspath(part.cache)
    state = project_state(part.files, cache, part.config, open_readings, undeclared=undeclared)
    _check_bytes(state, state.reader)
    if manner.writes:
        remove_leftovers(part.files.leftovers)
    lost = orphans(state)
    if state.stale or lost:
        work = _plan(state, lost)
        found = _undeclared(state, work.plan) - undeclared
        if found:
            return _attempt(part._replace(files=state.files), manner, undeclared | found)
        outcome, fresh, leaves_nothing = _generate(state, manner, work)
    else:
        outcome, fresh, leaves_nothing = _nothing_to_do(state), state.fresh, True
    settled = _settled(part, state, fresh) if leaves_nothing else None
    if settled is not None and fresh is state.fresh:
        outcome = outcome._replace(glance=Glance(state, part.paths, part.config, settled))
    remember(state, fresh, settled or "")
    return outcome


def _settled(part: Part, state: ProjectState, fresh: Mapping[str, FreshRecord]) -> str | None:
    """The identity of a run that left nothing to do; None if its outcome depends on files that are not listed."""
    if not is_closed(state, part.config):
        return None
    return "" if part.config.locks else settled_by(state, fresh, part.paths)  # a run also says which of these are stale


def _nothing_to_do(state: ProjectState) -> Outcome:
    return Outcome(
        sources=_targets(state),
        up_to_date=_fresh_outputs(state),
        diagnostics=_warnings(state.fresh),
        failures=state.failures,
    )


def _targets(state: ProjectState) -> int:
    return sum(source.target for source in state.files.sources.values())


def _fresh_outputs(state: ProjectState) -> int:
    return sum(len(record.outputs) for record in state.fresh.values())


def _warnings(fresh: Mapping[str, FreshRecord]) -> tuple[Diagnostic, ...]:
    """Warnings of an earlier run about files that have not changed since."""
    recorded = [(path, item) for path, record in fresh.items() for item in record.warnings]
    if not recorded:
        return ()
    from ..common.records import replace
    from ..model.diagnostics import ordered

    return ordered(replace(item, path=path) for path, item in recorded)


def _undeclared(state: ProjectState, planned: Plan) -> set[str]:
    """The sources that lose their outputs, which may be all that they were read for."""
    losing = {source_of(path) for path, text in planned.outputs.items() if text is None}
    return {path for path in losing.intersection(state.stale) if not state.graph.scans[path].mentions}


def _generate(state: ProjectState, manner: _Manner, work: _Planned) -> tuple[Outcome, dict[str, FreshRecord], bool]:
    """Write the changes if `writes` is on, and return the outcome with the fresh records.

    Return also whether the run leaves nothing to do.
    """
    planned, readings, existing = work
    found = changes(planned.outputs, existing)
    failures = [*state.failures, *(_write(found) if manner.writes else ())]
    failed = {failure.path for failure in failures}
    # Without writing, every change is still to be made.
    pending = failed if manner.writes else {change.path for change in found}
    # Planned, and on the disk already.
    kept = sum(text is not None for text in planned.outputs.values()) - sum(change.new is not None for change in found)
    outcome = Outcome(
        sources=_targets(state),
        up_to_date=_fresh_outputs(state) + kept,
        changes=tuple(change for change in found if change.path not in failed),
        diagnostics=tuple(sorted((*planned.diagnostics, *_warnings(state.fresh)), key=lambda item: item.order)),
        blocked=planned.blocked,
        failures=tuple(failures),
        crashes=planned.crashes,
    )
    if manner.explains and outcome.changes:
        from .reasons import reasons

        outcome = outcome._replace(reasons=reasons(outcome.changes, state))
    fresh = {**state.fresh, **fresh_now(state, planned, readings, pending)}
    is_done = not pending and all(path in fresh for path in state.stale)
    return outcome, fresh, is_done and not torn(state, readings)


def _existing_outputs(targets: Iterable[str], state: ProjectState) -> dict[str, bytes]:
    """The bytes of the existing outputs of these targets."""
    outputs = [output for path in targets for output in outputs_of(path) if output in state.files.outputs]
    return {path: read_output(path) for path in outputs}


class _Planned(NamedTuple):
    """The plan for the stale targets and the orphans, what has been read for it, and the outputs that exist."""

    plan: Plan
    readings: Readings
    existing: Mapping[str, bytes]


def _plan(state: ProjectState, lost: Mapping[str, bytes]) -> _Planned:
    """Plan the stale targets, and remove the `lost` outputs, which no source has any more."""
    from ..generate.plan import plan, together
    from ..generate.readings import Readings

    readings = state.reader if isinstance(state.reader, Readings) else open_readings(state.graph)
    readings.know({path: Handlers(owners, frozenset()) for path, owners in state.owners.items()})
    readings.sound = state.fresh.keys()
    existing = _existing_outputs(state.stale, state)
    planned = plan(readings.sources, existing, state.stale, state.graph, readings)
    while held := _held_back(state, planned):
        state.stale.extend(held)
        existing.update(_existing_outputs(held, state))
        for path in held:
            del state.fresh[path]
        planned = together([planned, plan(readings.sources, existing, held, state.graph, readings)])
    _check_bytes(state, readings)
    planned.outputs.update(dict.fromkeys(lost))
    return _Planned(planned, readings, {**existing, **lost})


def _held_back(state: ProjectState, planned: Plan) -> list[str]:
    """The fresh targets that cannot be generated any more, because a file that they depend on has an error now."""
    broken = {item.path for item in planned.diagnostics if item.is_error}
    broken |= {*planned.blocked, *(crash.path for crash in planned.crashes)}
    if not broken:
        return []
    return [path for path, record in state.fresh.items() if not broken.isdisjoint(_needed(state, path, record))]


def _needed(state: ProjectState, path: str, record: FreshRecord) -> Iterator[str | None]:
    """The files that have to be without an error so that a target can be generated."""
    for name in record.lookups:
        if name.startswith("+"):
            yield state.graph.relevant_file(state.graph.view(path), name[1:])


def _check_bytes(state: ProjectState, reader: Reader | None) -> None:
    """Make sure that what was read of the sources is what their records say.

    Raises:
        _Changed: A source changed between the two.
    """
    for path in torn(state, reader):
        raise _Changed(path)


def _write(found: Sequence[Change]) -> list[Failure]:
    """Make the changes, and return the failures."""
    failures = []
    for change in found:
        try:
            write(change)
        except OSError as error:
            action = "remove" if change.new is None else "write"
            failures.append(Failure(change.path, f"cannot {action} it: {error.strerror}"))
    return failures
