"""Records what a run has found, so that the next one knows what is fresh: in the manifest."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from ..common.digests import digest
from ..project import manifest
from ..project.apply import is_as_planned
from ..project.manifest import FreshRecord, HandlerRecord, Manifest, SourceRecord
from ..project.output_names import outputs_of
from ..project.paths import read_output
from ..project.source_texts import SourceTexts
from ..project.stale import ProjectState, keys_of
from ..project.statuses import NO_FILE, Signature, Stat, signature

if TYPE_CHECKING:
    from ..generate.plan import Plan
    from ..generate.readings import Readings
    from ..model.diagnostics import Diagnostic
    from ..project.output_keys import Reader


def torn(state: ProjectState, reader: Reader | None) -> list[str]:
    """The sources that were read with other bytes than their records say."""
    sources = getattr(reader, "sources", None)
    return sources.torn(state.records) if isinstance(sources, SourceTexts) else []


def fresh_now(
    state: ProjectState, planned: Plan, readings: Readings, pending: AbstractSet[str]
) -> dict[str, FreshRecord]:
    """Records of the targets that are fresh after the run: they have no error, and their outputs on disk are as planned."""
    unfinished = {item.path for item in planned.diagnostics if item.is_error} | set(planned.blocked)
    unfinished |= {crash.path for crash in planned.crashes}
    done = [path for path in state.stale if path not in unfinished and pending.isdisjoint(outputs_of(path))]
    keys = keys_of(state, {path: planned.lookups[path] for path in done}, readings)
    for path in torn(state, readings):  # it has changed since the texts were planned; the next run looks at it again
        state.records[path] = state.records[path]._replace(content="")
    warnings: dict[str, list[Diagnostic]] = {}
    for item in planned.diagnostics:
        warnings.setdefault(item.path, []).append(_recorded_warning(item))
    now = time.time_ns()
    fresh = {}
    for path in done:
        outputs = {
            os.path.basename(output): _recorded(output, text, now)
            for output in outputs_of(path)
            if (text := planned.outputs.get(output)) is not None
        }
        lookups = tuple(sorted(planned.lookups[path]))
        fresh[path] = FreshRecord(keys[path], lookups, outputs, tuple(warnings.get(path, ())))
    return fresh


def _recorded(output: str, text: str, now: int) -> Signature:
    """The signature of an output with the text that was planned; that of no file if somebody has changed it since."""
    try:
        status = os.stat(output)
    except OSError:
        return NO_FILE
    data = read_output(output)
    return signature(Stat.of(status), digest(data), now) if is_as_planned(data, text.encode()) else NO_FILE


def _recorded_warning(item: Diagnostic) -> Diagnostic:
    """A warning without the parts that the manifest does not store."""
    from ..model.diagnostics import Diagnostic

    return Diagnostic(item.kind, item.message, help=item.help, notes=item.notes, span=item.span)


def _keep_what_is_asked(
    records: dict[str, SourceRecord], previous: Manifest, asking: Sequence[FreshRecord | HandlerRecord]
) -> None:
    """Leave out of the records that are new what they say of names that no file asks for."""
    new = [name for name, record in records.items() if record.parts and record.parts is not _parts(previous, name)]
    if not new:
        return
    asked: dict[str, set[str]] = {}
    for lookup in frozenset[str]().union(*(item.lookups for item in asking)):
        module, colon, part = lookup.partition(":")
        if colon:
            asked.setdefault(module, {""}).add(part)
    for name in new:
        record = records[name]
        found = asked.get(record.module, ())
        records[name] = record._replace(parts={part: record.parts.get(part, "") for part in sorted(found)})


def _parts(manifest: Manifest, name: str) -> Mapping[str, str] | None:
    return manifest.sources[name].parts if name in manifest.sources else None


def remember(state: ProjectState, fresh: Mapping[str, FreshRecord], settled: str) -> ProjectState:
    """Save the manifest if it has changed, and return the state with it. `settled` identifies a run that left nothing to do.

    The records of files outside the paths of this run are kept as long as the files exist.
    """
    previous, names = state.previous, state.names
    records = {names[path]: record for path, record in state.records.items()}
    present = set(names.values())
    for name, record in previous.sources.items():
        if name not in present and os.path.exists(os.path.join(state.cache, name)):
            records[name] = record
    targets = {names[path] for path, source in state.files.sources.items() if source.target}
    right = {names[path]: record for path, record in fresh.items()}
    right.update({name: item for name, item in previous.fresh.items() if name in records and name not in targets})
    handlers = {name: item for name, item in previous.handlers.items() if name in records and name not in present}
    handlers.update(state.handlers)
    _keep_what_is_asked(records, previous, [*right.values(), *handlers.values()])
    saved = manifest.save(state.cache, Manifest(records, right, handlers, settled), previous)
    own = {path: records[name] for path, name in names.items() if name in records}
    return state._replace(previous=saved, records=own, fresh={**fresh}, stale=[])
