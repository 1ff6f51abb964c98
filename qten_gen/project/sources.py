"""Reads the sources of a run: each that has another status than in the last run, and scans it if its digest differs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..common.header import digest
from .cache import NO_STAT, Cache, SourceRecord, Stamp
from .files import Source
from .import_graph import SourceGraph
from .paths import read_regular, relative_to
from .scan import scan


class Failure(NamedTuple):
    """A file that cannot be read, written or removed."""

    path: str
    problem: str


class Sources:
    """The sources that were read so far, by the paths that messages show."""

    def __init__(self, root: str, previous: Cache, unsaved: Mapping[str, bytes]) -> None:
        self.previous = previous
        self.now = time.time_ns()
        self.names: dict[str, str] = {}
        """The paths as they are in the cache."""
        self.records: dict[str, SourceRecord] = {}
        self.edited: dict[str, bytes] = {}
        """The bytes of the sources that say something else than in the last run."""
        self.unreadable: list[Failure] = []
        self._root = root
        self._unsaved = unsaved

    def add(self, sources: Mapping[str, Source]) -> None:
        """Read more sources."""
        self.names.update(_cached_names(sources, self._root))
        for path, source in sources.items():
            try:
                self.records[path] = self._record(path, source)
            except FileNotFoundError:
                continue  # it has been removed since it was listed
            except OSError as error:
                self.unreadable.append(Failure(path, f"cannot read it: {error.strerror}"))

    def _record(self, path: str, source: Source) -> SourceRecord:
        """The record of a source: the one of the last run, as far as it still holds."""
        origin = source.origin
        before = self.previous.sources.get(self.names[path])
        if before is not None and before.module != origin.module:
            before = None
        data = self._unsaved.get(path)
        if data is not None:
            stamp = Stamp(NO_STAT, digest(data))
        elif before is not None and before.stamp.stat == source.stat:
            return before
        else:
            data = read_regular(path)
            stamp = Stamp.of(source.stat, digest(data), self.now)
        if before is not None and before.stamp.digest == stamp.digest:
            return before._replace(stamp=stamp)
        self.edited[path] = data
        place = "" if before is None else before.place
        return SourceRecord(stamp, origin.module, scan(data, origin), place=place)

    def by_name(self) -> dict[str, SourceRecord]:
        """The records by the paths that they have in the cache."""
        return {self.names[path]: record for path, record in self.records.items()}

    def import_the_same(self) -> bool:
        """True if there are the same sources as in the last run, and a scan of each gives the same imports and classes."""
        old, new = self.previous.sources, self.by_name()
        if self.unreadable or new.keys() != old.keys():
            return False
        return all(record is old[name] or record.scan == old[name].scan for name, record in new.items())

    def place(self, graph: SourceGraph) -> None:
        """Record the place of each source in the graph."""
        roots = {each: relative_to(each, self._root) for each in {origin.root for origin in graph.origins.values()}}
        self.records.update(
            {path: record._replace(place=_place(path, roots, graph)) for path, record in self.records.items()}
        )

    def parsed_before(self) -> dict[str, bytes]:
        """The sources that the last run parsed, and that are as they were."""
        known = ((path, self.previous.parsed.get(self.names[path])) for path in self.records if path not in self.edited)
        return {path: data for path, data in known if data is not None}


def _cached_names(paths: Iterable[str], root: str) -> dict[str, str]:
    """The paths as they are in the cache: relative to its folder, with forward slashes."""
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = relative_to(folder or ".", root)
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names


def _place(path: str, roots: Mapping[str, str], graph: SourceGraph) -> str:
    """The place of a source among the others, as far as a declaration depends on it."""
    origin, unresolved = graph.origins[path], graph.unresolved.get(path)
    is_relevant = path in graph.relevant
    found = f"{'*' * is_relevant}{roots[origin.root]} {'package' * origin.is_package}"
    if is_relevant:
        if graph.scans[path].calls and path not in graph.imported:
            found += " not imported"
        if path in graph.mismatches:
            found += f" {graph.mismatches[path]}"
    return found if unresolved is None else f"{found} {sorted(unresolved)}"
