"""What a run leaves for the next one: the records of fresh targets, and a snapshot of what it listed."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from ..common.header import digest
from ..project.apply import is_as_planned
from ..project.cache import COARSE_CLOCK, NO_FILE, FreshRecord, Snapshot, Stamp, Stat, status_of
from ..project.config import Config
from ..project.files import Listed
from ..project.output_names import outputs_of, source_of
from ..project.paths import read_output, search_path

if TYPE_CHECKING:
    from ..generate.plan import Plan
    from ..model.diagnostics import Diagnostic
    from ..project.libraries import Environment
    from ..project.stale import ProjectState


def snapshot(state: ProjectState, config: Config, listed: Listed, began: int, last: Snapshot | None) -> Snapshot | None:
    """The snapshot of a run; None if its outcome depends on more than what it listed.

    Args:
        state: The state that it found.
        config: The settings of the project.
        listed: The digests of what it listed; the digest of files is empty if it left something to do.
        began: When it began, in nanoseconds. What has changed just before may change again without another time.
        last: The snapshot of the last run.
    """
    if last is None or not state.has_same_places:
        from ..project.libraries import Environment

        environment = Environment()
        if not _is_closed(state, config, environment):
            return None
        surroundings = {path: status_of(path) for path in search_path()}
        if not all(_is_older(status, began) for status in surroundings.values()):
            return None  # what was installed meanwhile, this run need not have found
    else:
        surroundings = {**last.surroundings}
    statuses = [*(source.stat for source in state.files.sources.values()), *state.files.outputs.values()]
    is_certain = all(_is_older(status, began) for status in statuses) and not state.failures
    warnings = {path: record.warnings for path, record in state.fresh_targets.items() if record.warnings}
    return Snapshot(listed.names, listed.files if is_certain else "", state.up_to_date, warnings, surroundings)


def _is_older(status: Stat, began: int) -> bool:
    """True if a further change gives a file another time than the one that it has."""
    return max(status.modified, status.changed) < began - COARSE_CLOCK


def _is_closed(state: ProjectState, config: Config, environment: Environment) -> bool:
    """True if the places of files depend on nothing that a run does not list: no library, and nothing that is left out."""
    files, graph = state.files, state.graph
    if not config.has_file:
        return False
    if graph.unresolved or files.leftovers or any(each.outside for each in files.sources.values()):
        return False
    imports = {name for found in graph.scans.values() for name in found.imports}
    own = {origin.module.partition(".")[0] for origin in graph.origins.values()}
    if any(environment.may_declare(top) for top in {name.partition(".")[0] for name in imports} - own):
        return False  # what is there may come and go without a trace in the folders that are searched
    # An import may lead to a folder that is not listed, where nobody sees files come and go.
    hidden = {os.path.basename(path).removesuffix(".py") for path in files.unlisted}
    if hidden and any(not hidden.isdisjoint(name.split(".")) for name in imports):
        return False
    return all(f"{folder}{os.sep}".startswith(os.path.join(config.root, "")) for folder in config.import_roots)


def fresh_after(state: ProjectState, planned: Plan, pending: Collection[str]) -> dict[str, FreshRecord]:
    """Records of the planned targets that are fresh after the run: they have no error, and their outputs are as planned.

    `pending` are the outputs that are not as planned.
    """
    from ..model.diagnostics import Diagnostic

    unfinished = {item.path for item in planned.diagnostics if item.is_error} | {*planned.blocked}
    unfinished |= {crash.path for crash in planned.crashes}
    unfinished |= {source_of(path) for path in pending}
    warnings: dict[str, list[Diagnostic]] = {}
    for item in planned.diagnostics:
        stored = Diagnostic(item.kind, item.message, help=item.help, notes=item.notes, span=item.span)
        warnings.setdefault(item.path, []).append(stored)
    now = time.time_ns()
    fresh = {}
    for path, lookups in planned.lookups.items():
        if path in unfinished:
            continue
        if path in planned.kept:
            outputs = state.rendered[path].outputs
        else:
            texts = ((output, planned.outputs.get(output)) for output in outputs_of(path))
            outputs = {
                os.path.basename(output): _stamp(output, text, now) for output, text in texts if text is not None
            }
        found = tuple(warnings.get(path, ()))
        fresh[path] = FreshRecord(tuple(sorted(lookups)), outputs, planned.fingerprints.get(path, ""), found)
    return fresh


def _stamp(output: str, text: str, now: int) -> Stamp:
    """The stamp of an output with the text that was planned; `NO_FILE` if somebody has changed it since."""
    try:
        status = os.stat(output)
    except OSError:
        return NO_FILE
    data = read_output(output)
    return Stamp.of(Stat.of(status), digest(data), now) if is_as_planned(data, text.encode()) else NO_FILE
