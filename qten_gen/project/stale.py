"""Finds out which outputs are fresh, stale or orphans, before anything is parsed.

A source is fresh if what its outputs depend on (see `keys`) and the outputs are as the last run left them. Sizes and times
are compared first, then digests, and what a file says if those differ. So an unchanged tree is only listed, a file that was
only touched is read but not parsed, and after a change of a comment one file is parsed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..common.digests import digest
from ..common.header import read_header
from . import manifest
from .changes import Changes, OpenReader
from .config import Config
from .dependencies import Dependencies
from .files import ProjectFiles, Source
from .import_graph import Modules, SourceGraph, source_graph
from .manifest import FreshRecord, HandlerRecord, Manifest, SourceRecord
from .output_keys import Keys, Reader
from .output_names import is_ours, is_output, name_of, outputs_of, source_of
from .paths import display_path, read_output, read_regular, relative_to
from .scan import Origin, Scan, scan
from .statuses import NO_FILE, Signature, Stat, signature
from .walk import Listings


class Failure(NamedTuple):
    """A file that cannot be read, written or removed."""

    path: str
    problem: str


class ProjectState(NamedTuple):
    """The state of the files compared with the manifest. Sources are identified by the paths that messages show."""

    files: ProjectFiles
    cache: str
    """The folder that holds the manifest."""
    names: dict[str, str]
    """The paths of the sources as they are in the manifest."""
    previous: Manifest
    """The manifest of the last run."""
    records: dict[str, SourceRecord]
    """The sources as they are now."""
    graph: SourceGraph
    handlers: dict[str, HandlerRecord]
    """The handlers that sources register, by their names in the manifest."""
    owners: dict[str, tuple[str, ...]]
    """The same by path: the sources that each source registers handlers for."""
    reader: Reader | None
    """The reader of the changed sources; None if nothing had to be read."""
    fresh: dict[str, FreshRecord]
    stale: list[str]
    """Targets whose outputs have to be planned."""
    failures: tuple[Failure, ...]


def project_state(
    files: ProjectFiles,
    cache: str,
    config: Config | None = None,
    open_reader: OpenReader | None = None,
    unsaved: Mapping[str, bytes] = {},
    previous: Manifest | None = None,
    undeclared: Collection[str] = (),
) -> ProjectState:
    """Read the files that have changed since the last run, and find out which targets are fresh.

    `cache` is the folder that holds the manifest. Files outside the project that imports lead to are added to the sources.
    `open_reader` gives what reads the changed files. Without it, nothing is fresh that depends on them. `unsaved` are texts of
    files that differ from those on the disk. `previous` is compared with instead of the manifest on the disk. The outputs of
    `undeclared` sources are no reason to read these.
    """
    previous = manifest.load(cache) if previous is None else previous
    now = time.time_ns()
    records: dict[str, SourceRecord] = {}
    unreadable: list[Failure] = []
    names: dict[str, str] = {}
    config = config or Config()
    dependencies = Dependencies(config)
    scanned, modules = _Scanned({}, {}, frozenset()), Modules.of({})
    more: Mapping[str, Source] = files.sources
    while more:
        names.update(_manifest_names(more, cache))
        read, failed = _source_records(more, previous, names, now)
        for path in unsaved.keys() & more.keys():
            read[path] = _unsaved_record(more[path], unsaved[path], previous.sources.get(names[path]))
        records.update(read)
        unreadable += failed
        dependencies.unreadable.update(failure.path for failure in failed)
        scanned = _scanned(files, records)
        modules = Modules.of(scanned.origins, scanned.outside)
        more = dependencies.missing(scanned.origins, scanned.scans, modules)
        files = files._replace(sources={**files.sources, **more})
    graph = _graph(files, scanned, modules, undeclared)
    if config.root is None:  # files that are not listed may import any of these
        graph = graph._replace(imported=frozenset(graph.origins))
    graph = graph._replace(
        unresolved=dependencies.unresolved(*scanned, modules),
    )
    state = ProjectState(files, cache, names, previous, records, graph, {}, {}, None, {}, [], tuple(unreadable))
    return _compared(state, {}, now, open_reader)


def state_after(
    known: ProjectState,
    listings: Listings,
    changed: Mapping[str, Stat],
    open_reader: OpenReader,
    unsaved: Mapping[str, bytes] = {},
) -> ProjectState | None:
    """The state of the project after changes of sources and outputs; None if they may change the graph.

    Args:
        known: The state after a run that left nothing to do. Its previous manifest is the one that the run has written.
        listings: What is seen of each folder now.
        changed: The status of the files that are not as they were.
        open_reader: Gives what reads the changed files.
        unsaved: Texts of sources that are taken for those on the disk.
    """
    now = time.time_ns()
    sources, outputs, records = dict(known.files.sources), dict(known.files.outputs), dict(known.records)
    paths = {*changed, *unsaved}
    for path in paths:
        if path in outputs:
            outputs[path] = changed[path]
            continue
        try:
            # A file that is new here changes the graph.
            sources[path] = sources[path]._replace(stat=changed.get(path, sources[path].stat))
            if path in unsaved:
                records[path] = _unsaved_record(sources[path], unsaved[path], records[path])
            else:
                records[path] = _source_record(path, sources[path], records[path], now)
        except (KeyError, OSError):
            return None
        if records[path].scan != known.records[path].scan:
            return None
    files = known.files._replace(sources=sources, outputs=outputs, listings=listings)
    state = known._replace(files=files, records=records)
    written = [path for path in paths if path in records and _digest(records, path) != _digest(known.records, path)]
    made = {source_of(path) for path in paths if is_output(path)}
    # An output was touched, and has the bytes that it had.
    if not written and all(_verified_outputs(_outputs(known, path), path, outputs, now) for path in made):
        return state
    return _compared(state, _untouched(known, written, paths), now, open_reader)


def _outputs(known: ProjectState, path: str) -> Mapping[str, Signature]:
    return known.fresh[path].outputs if path in known.fresh else {}


def _untouched(known: ProjectState, written: Collection[str], changed: Collection[str]) -> dict[str, FreshRecord]:
    """The records of targets that stay fresh because they and their outputs are as they were, and what they have looked up.

    Of the `changed` files, the `written` sources have other bytes.
    """
    origins = known.graph.origins
    others = [
        path for path in known.graph.relevant if not known.files.sources[path].target
    ]  # they may look up the former
    modules = {origins[path].module for path in (*written, *others)}
    asked = {name for name in known.previous.lookups if name.lstrip("?@+!").partition(":")[0] in modules}
    touched = {source_of(path) if is_output(path) else path for path in changed}
    return {
        path: record for path, record in known.fresh.items() if path not in touched and asked.isdisjoint(record.lookups)
    }


def _digest(records: Mapping[str, SourceRecord], path: str) -> str:
    return records[path].signature.digest


def _compared(
    state: ProjectState, untouched: Mapping[str, FreshRecord], now: int, open_reader: OpenReader | None
) -> ProjectState:
    """A state whose files are read and whose graph is made, compared with the manifest.

    `untouched` targets are fresh, unless sources register handlers for others than the state says.
    """
    files, names, previous, records, graph = state.files, state.names, state.previous, state.records, state.graph
    changes = Changes(graph, names, previous, records, open_reader)
    changes.read_changed()
    handlers = changes.handlers()
    targets = sorted(path for path in graph.relevant if files.sources[path].target)
    keys = Keys(graph, names, changes.contents, changes.owners, records, targets, previous.fresh)
    fresh = {**untouched} if changes.owners == state.owners else {}
    for path in targets:
        record = None if path in fresh else previous.fresh.get(names[path])
        # Warnings say lines, which may have moved.
        if record is not None and not (record.warnings and path in changes.changed):
            verified = _fresh(path, record, keys, files, now)
            if verified is not None:
                fresh[path] = verified
    stale = [path for path in targets if path not in fresh]
    failures = (*_unlistable(files), *state.failures, *_shadowed_declarations(files))
    found = (handlers, changes.owners, changes.reader, fresh, stale, failures)
    return ProjectState(files, state.cache, names, previous, records, graph, *found)


def keys_of(state: ProjectState, lookups: Mapping[str, Iterable[str]], reader: Reader) -> dict[str, str]:
    """The keys of planned sources, by path. What the files say that they depend on is added to the records."""
    contents = {path: record.content for path, record in state.records.items() if record.content}
    targets = [path for path in state.graph.relevant if state.files.sources[path].target]
    keys = Keys(state.graph, state.names, contents, state.owners, state.records, targets, state.previous.fresh)
    for path, names in lookups.items():
        for other in state.graph.files(path, names):
            if other not in contents:
                contents[other] = reader.content(other)
                state.records[other] = state.records[other]._replace(content=contents[other])
        for other, name in state.graph.parts(path, names):
            if name not in state.records[other].parts:
                state.records[other] = state.records[other]._replace(parts={name: "", **reader.parts(other)})
    return {path: keys.key(path, names) for path, names in lookups.items()}


def _manifest_names(paths: Iterable[str], cache: str) -> dict[str, str]:
    """The paths as they are in the manifest: relative to its folder, with forward slashes."""
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = relative_to(folder or ".", cache)
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names


class _Scanned(NamedTuple):
    """The modules and the scans of all sources that could be read, and those outside the project."""

    origins: dict[str, Origin]
    scans: dict[str, Scan]
    outside: frozenset[str]


def _scanned(files: ProjectFiles, records: Mapping[str, SourceRecord]) -> _Scanned:
    origins = {path: files.sources[path].origin for path in records}
    outside = frozenset(path for path in records if files.sources[path].outside)
    return _Scanned(origins, {path: record.scan for path, record in records.items()}, outside)


def _source_records(
    sources: Mapping[str, Source], previous: Manifest, names: Mapping[str, str], now: int
) -> tuple[dict[str, SourceRecord], list[Failure]]:
    """The records of all sources as they are now, and a failure for each that cannot be read."""
    records: dict[str, SourceRecord] = {}
    failures = []
    for path, source in sources.items():
        try:
            records[path] = _source_record(path, source, previous.sources.get(names[path]), now)
        except FileNotFoundError:
            continue  # it has been removed since it was listed
        except OSError as error:
            failures.append(Failure(path, f"cannot read it: {error.strerror}"))
    return records, failures


def _unsaved_record(source: Source, data: bytes, before: SourceRecord | None) -> SourceRecord:
    """The record of a text that is not on the disk. Its time is never that of a file."""
    found = Signature(NO_FILE.stat, digest(data))
    if before is not None and before.module == source.origin.module and before.signature.digest == found.digest:
        return before._replace(signature=found)
    return SourceRecord(found, source.origin.module, scan(data, source.origin))


def _source_record(path: str, source: Source, before: SourceRecord | None, now: int) -> SourceRecord:
    """The record of a source. It is read only if its size or time has changed, and scanned only if its content has."""
    origin, status = source.origin, source.stat
    if before is not None and before.module == origin.module and before.signature.stat == status:
        return before
    data = read_regular(path)
    found = signature(status, digest(data), now)
    if before is not None and before.module == origin.module and before.signature.digest == found.digest:
        return before._replace(signature=found)
    return SourceRecord(found, origin.module, scan(data, origin))


def _graph(files: ProjectFiles, scanned: _Scanned, modules: Modules, undeclared: Collection[str]) -> SourceGraph:
    """The graph of all sources that could be read. Its folders are paths that messages can show."""
    generated = {source_of(path) for path in files.outputs}.difference(undeclared)
    graph = source_graph(scanned.origins, scanned.scans, generated, modules)
    mismatches = {
        path: item._replace(root=display_path(item.root)) if item.root else item
        for path, item in graph.mismatches.items()
    }
    return graph._replace(mismatches=mismatches)


def _fresh(path: str, record: FreshRecord, keys: Keys, files: ProjectFiles, now: int) -> FreshRecord | None:
    """The record of a fresh source, with the current times of its outputs; None for a stale one."""
    if record.key != keys.key(path, record.lookups):
        return None
    outputs = _verified_outputs(record.outputs, path, files.outputs, now)
    if outputs == record.outputs:
        return record
    return None if outputs is None else record._replace(outputs=outputs)


def _verified_outputs(
    recorded: Mapping[str, Signature], source: str, found: Mapping[str, Stat], now: int
) -> dict[str, Signature] | None:
    """The recorded outputs with their current times; None if one has changed or is missing."""
    verified = {}
    for output in outputs_of(source):
        name = name_of(output)
        if name in recorded:
            status, expected = found.get(output), recorded[name]
            if status is None:
                return None
            if status != expected.stat:
                if digest(read_output(output)) != expected.digest:
                    return None
                expected = signature(status, expected.digest, now)
            verified[name] = expected
    return verified if verified.keys() == recorded.keys() else None


def _unlistable(files: ProjectFiles) -> Iterator[Failure]:
    for folder, reason in files.unlistable.items():
        yield Failure(display_path(folder), f"cannot read it: {reason}")


def _shadowed_declarations(files: ProjectFiles) -> Iterator[Failure]:
    """Failures for files with declarations that have the name of a generated file, so that nothing is generated for them."""
    for path in files.outputs:
        if path.endswith(".py") and source_of(path) not in files.sources:
            data = read_output(path)
            found = scan(data, Origin("", ""))
            if found.mentions and found.derives and read_header(data) is None:
                yield Failure(path, "it contains declarations, but has the name of a generated file; rename it")


def orphans(state: ProjectState) -> dict[str, bytes]:
    """Generated files whose source no longer exists or declares anything. Those of stale sources are left to the plan."""
    found = {}
    kept = {*state.stale, *(failure.path for failure in state.failures)}
    for path in state.files.outputs:
        source = source_of(path)
        recorded = state.fresh[source].outputs if source in state.fresh else {}
        if source not in kept and name_of(path) not in recorded:
            data = read_output(path)
            if is_ours(path, data):
                found[path] = data
    return found
