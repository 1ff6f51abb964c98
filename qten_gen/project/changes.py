"""Finds out what sources say now that have changed, and what they register handlers for."""

from collections.abc import Callable, Mapping

from .import_graph import Handlers, SourceGraph
from .manifest import HandlerRecord, Manifest, SourceRecord
from .output_keys import Keys, Reader

OpenReader = Callable[[SourceGraph], Reader]
"""Gives what reads the files of a graph."""


class Changes:
    """Brings what the manifest knows of the sources up to date, with the help of a reader where they have changed."""

    def __init__(
        self,
        graph: SourceGraph,
        names: Mapping[str, str],
        previous: Manifest,
        records: dict[str, SourceRecord],
        open_reader: OpenReader | None,
    ) -> None:
        self._graph = graph
        self._names = names
        self._previous = previous
        self._records = records
        self._open_reader = open_reader
        self.reader: Reader | None = None
        self.changed: frozenset[str] = frozenset()
        """The sources whose bytes have changed."""
        self.owners: dict[str, tuple[str, ...]] = {}
        """For each source that registers handlers, the sources that it does that for."""

    @property
    def contents(self) -> dict[str, str]:
        """The digests of what the sources say, as far as they are known."""
        return {path: record.content for path, record in self._records.items() if record.content}

    def read_changed(self) -> None:
        """Find out what those changed sources say now that have been parsed before."""
        changed = set()
        for path in self._graph.relevant:
            before, record = self._previous.sources.get(self._names[path]), self._records[path]
            # The same object: it was not read again.
            if before is not None and before is not record and before.signature.digest != record.signature.digest:
                changed.add(path)
                if before.content:
                    self._know(path)
        self.changed = frozenset(changed)

    def _know(self, path: str) -> None:
        """Find out what a source says, if that is not known."""
        reader = self._opened()
        if reader is not None and not self._records[path].content:
            content = reader.content(path)
            before = self._previous.sources.get(self._names[path])
            is_same = before is not None and before.content == content
            parts = before.parts if before is not None and is_same else reader.parts(path)
            self._records[path] = self._records[path]._replace(content=content, parts=parts)

    def handlers(self) -> dict[str, HandlerRecord]:
        """The handlers that sources register: from the manifest, or read anew."""
        found: dict[str, HandlerRecord] = {}
        paths = {self._names[path]: path for path in self._graph.relevant}
        keys = Keys(self._graph, self._names, self.contents, {}, self._records)
        for path in self._graph.registering:
            record = self._previous.handlers.get(self._names[path])
            known = record is not None and set(record.owners) <= paths.keys()
            if record is not None and known and record.key == keys.key(path, record.lookups):
                found[self._names[path]] = record
                self.owners[path] = tuple(paths[owner] for owner in record.owners)
        missing = [path for path in self._graph.registering if path not in self.owners]
        reader = self._opened() if missing else self.reader
        if reader is not None:
            reader.know({path: Handlers(owners, frozenset()) for path, owners in self.owners.items()})
            for path in missing:
                self.owners[path], lookups = reader.handlers(path)
                for other in self._graph.files(path, lookups):
                    self._know(other)
                # Once more, because `_know` has added contents.
                key = Keys(self._graph, self._names, self.contents, {}, self._records).key(path, lookups)
                owners = tuple(self._names[owner] for owner in self.owners[path])
                found[self._names[path]] = HandlerRecord(key, tuple(sorted(lookups)), owners)
        return found

    def _opened(self) -> Reader | None:
        if self.reader is None and self._open_reader is not None:
            self.reader = self._open_reader(self._graph)
        return self.reader
