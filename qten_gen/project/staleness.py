"""Finds out which outputs are fresh, stale or orphans, before anything is parsed.

A source is fresh if the source itself, the files that it is linked with, and its outputs are as the last run left them. Sizes and
times are compared first, and digests if those differ. So an unchanged tree is only listed, and a file that was only touched is
read but not parsed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from . import manifest
from .config import Config
from .dependencies import Dependencies
from .files import ProjectFiles, Source
from .header import is_ours, read_header
from .import_graph import SourceGraph, source_graph
from .manifest import FreshRecord, Manifest, Signature, SourceRecord
from .output_names import outputs_of, source_of
from .paths import display_path, read_regular
from .scan import Origin, Scan, scan
from .walk import Stat

_COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes may get the same modification time."""


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
    keys: dict[str, str]
    """For each relevant source, the digest of its group."""
    fresh: dict[str, FreshRecord]
    stale: list[str]
    """Targets whose outputs have to be planned."""
    orphans: dict[str, bytes]
    """Generated files whose source no longer exists or no longer declares anything."""
    failures: tuple[Failure, ...]


def project_state(files: ProjectFiles, cache: str, config: Config | None = None) -> ProjectState:
    """Read the files that have changed since the last run, and find out which targets are fresh.

    `cache` is the folder that holds the manifest. Files outside the project that imports lead to are added to the sources.
    """
    previous = manifest.load(cache)
    now = time.time_ns()
    records: dict[str, SourceRecord] = {}
    unreadable: list[Failure] = []
    names: dict[str, str] = {}
    dependencies = Dependencies(config or Config())
    more: Mapping[str, Source] = files.sources
    while more:
        names.update(_manifest_names(more, cache))
        read, failed = _source_records(more, previous, names, now)
        records.update(read)
        unreadable += failed
        dependencies.unreadable.update(failure.path for failure in failed)
        more = dependencies.missing(*_scanned(files, records))
        files = files._replace(sources={**files.sources, **more})
    graph = _graph(files, records)
    graph = graph._replace(unfound=dependencies.unfound(*_scanned(files, records)))
    keys = _keys(graph, records, names)
    targets = [path for path in keys if files.sources[path].target]
    fresh = {path: record for path in targets if (record := _fresh(path, keys[path], files, names, previous, now))}
    stale = [path for path in targets if path not in fresh]
    failures = (*_unlistable(files), *unreadable, *_shadowed_declarations(files))
    orphans = _orphans(files, {*stale, *(failure.path for failure in failures)}, fresh)
    return ProjectState(files, cache, names, previous, records, graph, keys, fresh, stale, orphans, failures)


def _manifest_names(paths: Iterable[str], cache: str) -> dict[str, str]:
    """The paths as they are in the manifest: relative to its folder, with forward slashes."""
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = os.path.relpath(folder or ".", cache).replace(os.sep, "/")
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names


def _scanned(
    files: ProjectFiles, records: Mapping[str, SourceRecord]
) -> tuple[dict[str, Origin], dict[str, Scan], frozenset[str]]:
    """The modules and the scans of all sources that could be read, and those outside the project."""
    origins = {path: files.sources[path].origin for path in records}
    outside = frozenset(path for path in records if files.sources[path].outside)
    return origins, {path: record.scan for path, record in records.items()}, outside


def _source_records(
    sources: Mapping[str, Source], previous: Manifest, names: Mapping[str, str], now: int
) -> tuple[dict[str, SourceRecord], list[Failure]]:
    """The records of all sources as they are now, and the failures for those that cannot be read."""
    records: dict[str, SourceRecord] = {}
    failures = []
    for path, source in sources.items():
        try:
            records[path] = _source_record(path, source, previous.sources.get(names[path]), now)
        except OSError as error:
            failures.append(Failure(path, f"cannot read it: {error.strerror}"))
    return records, failures


def _source_record(path: str, source: Source, before: SourceRecord | None, now: int) -> SourceRecord:
    """The record of a source. It is read only if its size or time has changed, and scanned only if its content has."""
    origin, status = source.origin, source.stat
    if before is not None and before.module == origin.module and before.signature[:2] == status:
        return before
    data = read_source(path)
    found = signature(status, manifest.digest(data), now)
    if before is not None and before.module == origin.module and before.signature[2] == found[2]:
        return SourceRecord(found, origin.module, before.scan)
    return SourceRecord(found, origin.module, scan(data, origin))


def _graph(files: ProjectFiles, records: Mapping[str, SourceRecord]) -> SourceGraph:
    """The graph of all sources that could be read. Its folders are paths that messages can show."""
    origins, scans, outside = _scanned(files, records)
    graph = source_graph(origins, scans, {source_of(path) for path in files.outputs}, outside)
    mismatches = {
        path: item._replace(root=display_path(item.root)) if item.root else item
        for path, item in graph.mismatches.items()
    }
    return graph._replace(mismatches=mismatches)


def _keys(graph: SourceGraph, records: Mapping[str, SourceRecord], names: Mapping[str, str]) -> dict[str, str]:
    """For each relevant source, the digest of its group, and of how other files import it, which some rules check."""
    keys: dict[str, str] = {}
    for group in graph.groups:
        parts = sorted(
            f"{names[path]} {records[path].module} {records[path].signature[2]} "
            f"{records[path].scan.registers and path in graph.imported} {graph.mismatches.get(path)}"
            for path in group
        )
        keys.update(dict.fromkeys(group, manifest.digest("\n".join(parts).encode("utf-8", "surrogateescape"))))
    return keys


def _fresh(
    path: str, key: str, files: ProjectFiles, names: Mapping[str, str], previous: Manifest, now: int
) -> FreshRecord | None:
    """The record of a fresh source, with the current times of its outputs; None for a stale one."""
    record = previous.fresh.get(names[path])
    if record is None or record.key != key:
        return None
    outputs = _verified_outputs(record.outputs, path, files.outputs, now)
    return None if outputs is None else record._replace(outputs=outputs)


def _verified_outputs(
    recorded: Mapping[str, Signature], source: str, found: Mapping[str, Stat], now: int
) -> dict[str, Signature] | None:
    """The recorded outputs with their current times; None if one has changed or is missing."""
    verified = {}
    for output in outputs_of(source):
        name = os.path.basename(output)
        if name in recorded:
            status, expected = found.get(output), recorded[name]
            if status is None:
                return None
            if status != expected[:2]:
                if manifest.digest(read_output(output)) != expected[2]:
                    return None
                expected = signature(status, expected[2], now)
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


def _orphans(files: ProjectFiles, kept: Collection[str], fresh: Mapping[str, FreshRecord]) -> dict[str, bytes]:
    """Generated files that no source has any more. Those of the sources in `kept` are left to the plan."""
    orphans = {}
    for path in files.outputs:
        source = source_of(path)
        recorded = fresh[source].outputs if source in fresh else {}
        if source not in kept and os.path.basename(path) not in recorded:
            data = read_output(path)
            if is_ours(path, data):
                orphans[path] = data
    return orphans


def signature(status: Stat, digest: str, now: int) -> Signature:
    """The signature of a file. If the file changed just before `now`, its time is -1, as it may not show a further change."""
    size, changed = status
    return size, changed if changed < now - _COARSE_CLOCK else -1, digest


def read_source(path: str) -> bytes:
    """The bytes of a source.

    Raises:
        OSError: It cannot be read.
    """
    return read_regular(path)


def read_output(path: str) -> bytes:
    """The bytes of an output; empty for a link, a folder or a pipe, which qten-gen never writes."""
    if os.path.islink(path):
        return b""
    try:
        return read_regular(path)
    except OSError:
        return b""
