"""The keys that decide whether the outputs of a file are still right.

The outputs and diagnostics of a file depend on the answers to its look-ups (see `link.lookups`), and on how other files import
it. Its key is the digest of these. So it changes if what one of the files says changes, but not with a comment in one of them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from ..common.digests import digest
from .import_graph import Handlers, SourceGraph, View
from .manifest import FreshRecord, SourceRecord


class Reader(Protocol):
    """A reader of files that the manifest does not know."""

    def content(self, path: str) -> str:
        """The digest of what a file says."""
        ...

    def parts(self, path: str) -> Mapping[str, str]:
        """The digests of what a file says of each of its names."""
        ...

    def handlers(self, path: str) -> Handlers:
        """The handlers that a file registers."""
        ...

    def know(self, handlers: Mapping[str, Handlers]) -> None:
        """Take over what files register handlers for."""
        ...


class Keys:
    """The keys of the files of a run.

    `names` are the paths as they are in the manifest, `contents` the digests of what files say, and `owners` the files that each
    file registers handlers for, as far as they are known. `records` are the sources as they are now, `targets` those that the run
    generates for, and `fresh` the files that were fresh after the last run, by their names in the manifest.
    """

    def __init__(
        self,
        graph: SourceGraph,
        names: Mapping[str, str],
        contents: Mapping[str, str],
        owners: Mapping[str, Sequence[str]],
        records: Mapping[str, SourceRecord],
        targets: Collection[str] = (),
        fresh: Mapping[str, FreshRecord] = {},
    ) -> None:
        self._graph = graph
        self._names = names
        self._contents = contents
        self._records = records
        self._targets = targets
        self._fresh = fresh
        self._states: dict[str, str] = {}
        self._heads = graph.heads
        self._answers: dict[View, dict[str, str]] = {}
        self._registering: dict[str, list[str]] = {}
        for path in sorted(owners):
            for owner in owners[path]:
                self._registering.setdefault(owner, []).append(names[path])

    def key(self, path: str, lookups: Iterable[str]) -> str:
        """The key of a file with these look-ups."""
        graph, view = self._graph, self._graph.view(path)
        imported = graph.scans[path].registers and path in graph.imported
        own = f"{self._names[path]} {graph.origins[path].module} {imported} {graph.mismatches.get(path)}"
        names = sorted(lookups)
        answers = self._answers.setdefault(view, {})
        for name in names:
            if name not in answers:
                answers[name] = f"{name} {self._found(view, name)}"
        return digest("\n".join([own, *[answers[name] for name in names]]).encode("utf-8", "surrogateescape"))

    def _found(self, view: View, name: str) -> str:
        """Answer a look-up. Files are named as in the manifest, so that the answer does not depend on the working directory."""
        if name.endswith("."):
            return str(name[:-1] in self._heads)
        module, colon, part = name.lstrip("?@+").partition(":")
        path = self._graph.relevant_file(view, module)
        if path is None:
            return ""
        if name.startswith("+"):
            return f"{self._names[path]} {self._state(path)}"
        if name.startswith("?"):
            return f"{self._names[path]} {self._graph.origins[path].is_package}"
        if name.startswith("@"):
            return " ".join(self._registering.get(path, ()))
        unresolved = " ".join(sorted(self._graph.unresolved.get(path, ())))
        parts = self._records[path].parts
        said = f"{parts.get('')} {parts.get(part, '')}" if colon else self._contents.get(path, "")
        return f"{self._names[path]} {said} {unresolved}"

    def _state(self, path: str) -> str:
        """A text that shows whether a file can be generated: empty for one of the run, or one that was fresh and is as it was.

        If a file of the run turns out to be broken, those that depend on it are planned after it.
        """
        if path not in self._states:
            record = self._fresh.get(self._names[path])
            self._states[path] = ""  # for files whose classes derive from each other's
            if path not in self._targets and (record is None or record.key != self.key(path, record.lookups)):
                self._states[path] = self._contents.get(path, "")
        return self._states[path]
