"""What a run finds before anything is parsed: which outputs are fresh, which are stale and have to be planned, which are orphans.

A source is fresh if it, all that it is linked with and its outputs are as the last run left them. Sizes and times tell it; where
they do not, digests do. So an unchanged tree is only listed, and a file that was merely touched is read and not parsed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from . import manifest
from .files import ProjectFiles, Source, Stat, display_path
from .header import is_ours, read_header
from .import_graph import SourceGraph, source_graph
from .manifest import FreshRecord, Manifest, Signature, SourceRecord
from .output_names import outputs_of, source_of
from .scan import Origin, scan

_COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes of a file may leave the same time."""


class Failure(NamedTuple):
    """A file that the system would not let us read, write or remove."""

    path: str
    problem: str


class ProjectState(NamedTuple):
    """What the disk and the manifest tell together. Sources are named by the paths that messages show."""

    files: ProjectFiles
    cache: str
    """The folder that holds the manifest."""
    names: dict[str, str]
    """The sources as the manifest spells them."""
    previous: Manifest
    """What the last run left."""
    records: dict[str, SourceRecord]
    """The sources as they are now."""
    graph: SourceGraph
    keys: dict[str, str]
    """For each relevant source, the digest of its group."""
    fresh: dict[str, FreshRecord]
    stale: list[str]
    """Targets whose outputs have to be planned."""
    orphans: dict[str, bytes]
    """Outputs of ours whose source is gone or not relevant any more."""
    failures: tuple[Failure, ...]


def project_state(files: ProjectFiles, cache: str) -> ProjectState:
    """Read what has changed since the last run, and tell the targets that are fresh from those that are not.

    `cache` is the folder that holds the manifest.
    """
    previous = manifest.load(cache)
    names = _manifest_names(files.sources, cache)
    now = time.time_ns()
    records, unreadable = _source_records(files, previous, names, now)
    graph = _graph(files, records)
    keys = _keys(graph, records, names)
    targets = [path for path in keys if files.sources[path].target]
    fresh = {path: record for path in targets if (record := _fresh(path, keys[path], files, names, previous, now))}
    stale = [path for path in targets if path not in fresh]
    failures = (*_unlistable(files), *unreadable, *_shadowed_declarations(files))
    orphans = _orphans(files, {*stale, *(failure.path for failure in failures)}, fresh)
    return ProjectState(files, cache, names, previous, records, graph, keys, fresh, stale, orphans, failures)


def _manifest_names(paths: Iterable[str], cache: str) -> dict[str, str]:
    """The paths as the manifest spells them: relative to its folder, with forward slashes."""
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = os.path.relpath(folder or ".", cache).replace(os.sep, "/")
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names


def _source_records(
    files: ProjectFiles, previous: Manifest, names: Mapping[str, str], now: int
) -> tuple[dict[str, SourceRecord], list[Failure]]:
    """All sources as they are now, and those that cannot be read."""
    records: dict[str, SourceRecord] = {}
    failures = []
    for path, source in files.sources.items():
        try:
            records[path] = _source_record(path, source, previous.sources.get(names[path]), now)
        except OSError as error:
            failures.append(Failure(path, f"cannot read it: {error.strerror}"))
    return records, failures


def _source_record(path: str, source: Source, before: SourceRecord | None, now: int) -> SourceRecord:
    """A source as it is now; it is read only if its size or time is not what it was, and scanned only if its bytes are not."""
    origin, status, _ = source
    if before is not None and before.module == origin.module and before.signature[:2] == status:
        return before
    data = read_source(path)
    found = signature(status, manifest.digest(data), now)
    if before is not None and before.module == origin.module and before.signature[2] == found[2]:
        return SourceRecord(found, origin.module, before.scan)
    return SourceRecord(found, origin.module, scan(data, origin))


def _graph(files: ProjectFiles, records: Mapping[str, SourceRecord]) -> SourceGraph:
    """The graph of all sources that could be read. Folders in it are spelled as messages show them."""
    origins = {path: files.sources[path].origin for path in records}
    scans = {path: record.scan for path, record in records.items()}
    graph = source_graph(origins, scans, {source_of(path) for path in files.outputs})
    mismatches = {
        path: item._replace(root=display_path(item.root)) if item.root else item
        for path, item in graph.mismatches.items()
    }
    return graph._replace(mismatches=mismatches)


def _keys(graph: SourceGraph, records: Mapping[str, SourceRecord], names: Mapping[str, str]) -> dict[str, str]:
    """For each relevant source, the digest of its group, and of what rules ask about the rest: how its files are imported."""
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
    """The record of a source that is fresh, with the present times of its outputs; None for one that is stale."""
    record = previous.fresh.get(names[path])
    if record is None or record.key != key:
        return None
    outputs = _verified_outputs(record.outputs, path, files.outputs, now)
    return None if outputs is None else record._replace(outputs=outputs)


def _verified_outputs(
    recorded: Mapping[str, Signature], source: str, found: Mapping[str, Stat], now: int
) -> dict[str, Signature] | None:
    """The recorded outputs with their present times, or None where one has changed or is missing."""
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
    """Files that declare under the name of an output, which belongs to no source: nothing is generated for them."""
    for path in files.outputs:
        if path.endswith(".py") and source_of(path) not in files.sources:
            data = read_output(path)
            found = scan(data, Origin("", ""))
            if found.mentions and found.derives and read_header(data) is None:
                yield Failure(path, "it contains declarations, but has the name of a generated file; rename it")


def _orphans(files: ProjectFiles, kept: Collection[str], fresh: Mapping[str, FreshRecord]) -> dict[str, bytes]:
    """Outputs of ours that no source has; outputs of the sources in `kept` are not judged here."""
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
    """The signature of a file, to be believed later unless it was changed just before `now`."""
    size, changed = status
    return size, changed if changed < now - _COARSE_CLOCK else -1, digest


def read_source(path: str) -> bytes:
    """The bytes of a source.

    Raises:
        OSError: It cannot be read.
    """
    with open(path, "rb") as file:
        return file.read()


def read_output(path: str) -> bytes:
    """The bytes under an output's name; none for a link or a folder, which are never ours."""
    if os.path.islink(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
