"""What a run finds before anything is parsed: which outputs are fresh, which have to be planned, which are orphans.

A source is fresh if it, all that it is linked with and its outputs are as the last run left them. Sizes and times tell it; where
they do not, digests do. So an unchanged tree is only listed, and a file that was merely touched is read and not parsed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from . import manifest
from .files import Source, Stat, Tree, outputs_of, shown, source_of
from .header import is_ours, read_marker
from .import_graph import Origin, groups, imports, scan
from .import_mismatch import Misnamed, find_misnamed
from .manifest import Fresh, Manifest, Seen, Signature

_COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes of a file may leave the same time."""


class Failure(NamedTuple):
    """A file that the system would not let us read, write or remove."""

    path: str
    problem: str


class Survey(NamedTuple):
    """What a look at the disk tells. Paths are as shown; `names` gives them as the manifest spells them."""

    tree: Tree
    cache: str
    names: dict[str, str]
    known: Manifest
    seen: dict[str, Seen]
    keys: dict[str, str]
    """For each source that matters, the digest of its group."""
    reached: frozenset[str]
    """Sources with handlers that others import."""
    misnamed: Mapping[str, Misnamed]
    fresh: dict[str, Fresh]
    stale: list[str]
    """Targets whose outputs have to be planned."""
    orphans: dict[str, bytes]
    """Outputs of ours whose source is gone or does not matter any more."""
    failures: tuple[Failure, ...]


def survey(tree: Tree, cache: str) -> Survey:
    """Read what has changed since the last run, and tell the targets that are fresh from those that are not.

    `cache` is the folder that holds the manifest.
    """
    known = manifest.load(cache)
    names = _names(tree.sources, cache)
    now = time.time_ns()
    seen: dict[str, Seen] = {}
    failures = [Failure(shown(folder), f"cannot read it: {reason}") for folder, reason in tree.closed.items()]
    for path, source in tree.sources.items():
        try:
            seen[path] = _look(path, source, known.seen.get(names[path]), now)
        except OSError as error:
            failures.append(Failure(path, f"cannot read it: {error.strerror}"))
    reached = _reached(tree, seen)
    origins = {path: tree.sources[path].origin for path in seen}
    scans = {path: entry.scan for path, entry in seen.items()}
    together = groups(origins, scans, {source_of(path) for path in tree.outputs})
    misnamed = find_misnamed(origins, scans, [path for group in together for path in group])
    keys = _keys(together, seen, names, reached, misnamed)
    fresh: dict[str, Fresh] = {}
    for path, key in keys.items():
        entry = known.fresh.get(names[path])
        if tree.sources[path].target and entry is not None and entry.key == key:
            outputs = _confirmed(entry.outputs, path, tree.outputs, now)
            if outputs is not None:
                fresh[path] = entry._replace(outputs=outputs)
    stale = [path for path in keys if tree.sources[path].target and path not in fresh]
    failures.extend(_hidden(tree))
    orphans = _orphans(tree, {*stale, *(failure.path for failure in failures)}, fresh)
    return Survey(tree, cache, names, known, seen, keys, reached, misnamed, fresh, stale, orphans, tuple(failures))


def _reached(tree: Tree, seen: Mapping[str, Seen]) -> frozenset[str]:
    """The sources with handlers that other sources import, whether these matter otherwise or not."""
    registering = {path for path, entry in seen.items() if entry.scan.registers}
    if not registering:
        return frozenset()
    found = imports({path: tree.sources[path].origin for path in seen}, {path: seen[path].scan for path in seen})
    return frozenset(registering & {target for path, targets in found.items() for target in targets if target != path})


def _keys(
    together: Iterable[Sequence[str]],
    seen: Mapping[str, Seen],
    names: Mapping[str, str],
    reached: Collection[str],
    misnamed: Mapping[str, Misnamed],
) -> dict[str, str]:
    """For each source that matters, the digest of its group, and of what rules ask about the rest: how its files are imported."""
    keys: dict[str, str] = {}
    for group in together:
        parts = sorted(
            f"{names[path]} {seen[path].module} {seen[path].signature[2]} {path in reached} {misnamed.get(path)}"
            for path in group
        )
        keys.update(dict.fromkeys(group, manifest.digest("\n".join(parts).encode("utf-8", "surrogateescape"))))
    return keys


def _orphans(tree: Tree, kept: set[str], fresh: Mapping[str, Fresh]) -> dict[str, bytes]:
    """Outputs of ours that no source has; outputs of the sources in `kept` are not judged here."""
    orphans = {}
    for path in tree.outputs:
        source = source_of(path)
        recorded = fresh[source].outputs if source in fresh else {}
        if source not in kept and os.path.basename(path) not in recorded:
            data = content(path)
            if is_ours(path, data):
                orphans[path] = data
    return orphans


def _hidden(tree: Tree) -> Iterator[Failure]:
    """Files that declare under the name of an output, which belongs to no source: nothing is generated for them."""
    for path in tree.outputs:
        if path.endswith(".py") and source_of(path) not in tree.sources:
            data = content(path)
            found = scan(data, Origin("", ""))
            if found.mentions and found.derives and read_marker(data) is None:
                yield Failure(path, "it declares under a name of generated files; rename it")


def _look(path: str, source: Source, before: Seen | None, now: int) -> Seen:
    """A source as it is now; it is read only if its size or time is not what it was."""
    origin, status, _ = source
    if before is not None and before.module == origin.module and before.signature[:2] == status:
        return before
    data = source_bytes(path)
    found = signature(status, manifest.digest(data), now)
    if before is not None and before.module == origin.module and before.signature[2] == found[2]:
        return Seen(found, origin.module, before.scan)
    return Seen(found, origin.module, scan(data, origin))


def signature(status: Stat, digest: str, now: int) -> Signature:
    """The signature of a file, to be believed later unless it was changed just before `now`."""
    size, changed = status
    return size, changed if changed < now - _COARSE_CLOCK else -1, digest


def _confirmed(
    recorded: Mapping[str, Signature], source: str, found: Mapping[str, Stat], now: int
) -> dict[str, Signature] | None:
    """The recorded outputs with their present times, or None where one has changed or is missing."""
    confirmed = {}
    for output in outputs_of(source):
        name = os.path.basename(output)
        if name in recorded:
            status, expected = found.get(output), recorded[name]
            if status is None:
                return None
            if status != expected[:2]:
                if manifest.digest(content(output)) != expected[2]:
                    return None
                expected = signature(status, expected[2], now)
            confirmed[name] = expected
    return confirmed if confirmed.keys() == recorded.keys() else None


def source_bytes(path: str) -> bytes:
    """The bytes of a source.

    Raises:
        OSError: It cannot be read.
    """
    with open(path, "rb") as file:
        return file.read()


def content(path: str) -> bytes:
    """The bytes under an output's name; none for a link or a folder, which are never ours."""
    if os.path.islink(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _names(paths: Iterable[str], cache: str) -> dict[str, str]:
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = os.path.relpath(folder or ".", cache).replace(os.sep, "/")
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names
