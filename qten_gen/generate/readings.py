"""Reads and links the files of a run on demand, each at most once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from ..link.lookups import widest
from ..link.program import Library, Program, Reading
from ..model import Asked, ImportContext, SourceFile
from ..model.diagnostics import SYNTAX_ERROR, UNDECODABLE_FILE, Diagnostic
from ..project.import_graph import Handlers, SourceGraph, View
from ..read.module import read
from .content import content_digest, part_digests
from .crashes import Crash, attempt

_UNREADABLE = (SYNTAX_ERROR, UNDECODABLE_FILE)
"""After one of these errors, the declarations of a file are not known."""

UNREAD = "unread"
"""The content of a file that cannot be read."""


class Readings:
    """The files of a run as they have been read so far, and what came up. `sources` contains the bytes of all files by path."""

    def __init__(self, sources: Mapping[str, bytes], graph: SourceGraph) -> None:
        self.sources = sources
        self.graph = graph
        self.problems: dict[str, tuple[Diagnostic, ...]] = {}
        """Why files cannot be read."""
        self.unread: set[str] = set()
        """The files whose declarations are not known."""
        self.sound: AbstractSet[str] = frozenset()
        """Files that are known to have no error."""
        self.crashes: list[Crash] = []
        self._readings: dict[str, Reading] = {}
        self._programs: dict[View, Program] = {}
        self._contents: dict[str, str] = {}
        self._parts: dict[str, Mapping[str, str]] = {}
        self._handlers: dict[str, Handlers] = {}
        self._registering: dict[str, list[str]] | None = None
        self._heads = graph.heads

    def program(self, path: str) -> Program:
        """The files as a program sees them that is imported from the same folder as a file."""
        view = self.graph.view(path)
        if view not in self._programs:
            self._programs[view] = Program(self._library(view))
        return self._programs[view]

    def content(self, path: str) -> str:
        """The digest of a file's declarations (see `content`)."""
        if path not in self._contents:
            asked = self._reading(path).asked
            self._contents[path] = UNREAD if path in self.unread else content_digest(self._versions(path), asked)
        return self._contents[path]

    def parts(self, path: str) -> Mapping[str, str]:
        """The digests of a file's declarations for each of its names."""
        if path not in self._parts:
            found = self._versions(path)
            self._parts[path] = {"": UNREAD} if path in self.unread else part_digests(found[0], found[-1])
        return self._parts[path]

    def _versions(self, path: str) -> list[SourceFile]:
        """A file as it is read for the first time and, if other files change that, for the second time."""
        first, program = self._reading(path).file, self.program(path)
        with program.lookups.recorded():
            again = program.written(first.module)
        return [first, again] if again is not None and again is not first and again.path == path else [first]

    def know_contents(self, contents: Mapping[str, str], parts: Mapping[str, Mapping[str, str]]) -> None:
        """Take over digests of files."""
        self._contents.update(contents)
        self._parts.update(parts)

    def handlers(self, path: str) -> Handlers:
        """The handlers that a file registers."""
        if path not in self._handlers:
            program, module = self.program(path), self.graph.origins[path].module
            with program.lookups.recorded() as lookups:
                owners = attempt(self.crashes, path, "linking", program.owners, module) or ()
            view = self.graph.view(path)
            found = {owner for name in owners if (owner := self.graph.relevant_file(view, name)) is not None}
            self._handlers[path] = Handlers(tuple(sorted(found)), widest(lookups))
        return self._handlers[path]

    def know(self, handlers: Mapping[str, Handlers]) -> None:
        """Take over what files register handlers for from an earlier run."""
        self._handlers.update(handlers)

    def take_over(self, earlier: Readings, paths: Iterable[str]) -> None:
        """Take over what was read of files that have not changed since."""
        for path in paths:
            if path in earlier._readings:
                self._readings[path] = earlier._readings[path]
                if path in earlier.problems:
                    self.problems[path] = earlier.problems[path]
                if path in earlier.unread:
                    self.unread.add(path)

    def registering(self, path: str) -> list[str]:
        """The files that register handlers for Modules of a file."""
        if self._registering is None:
            found: dict[str, list[str]] = {}
            for other in self.graph.registering:
                for owner in self.handlers(other).owners:
                    found.setdefault(owner, []).append(other)
            self._registering = found
        return self._registering.get(path, [])

    def _library(self, view: View) -> Library:
        """The files of a program, found by module name in a view."""

        def reading(module: str) -> Reading | None:
            path = self.graph.relevant_file(view, module)
            return None if path is None else self._reading(path)

        def is_package(module: str) -> bool | None:
            path = self.graph.relevant_file(view, module)
            return None if path is None else self.graph.origins[path].is_package

        def handlers(module: str) -> Iterable[str]:
            path = self.graph.relevant_file(view, module)
            found = [] if path is None else self.registering(path)
            modules = {self.graph.origins[other].module: other for other in found}
            # Handlers in a file that the program does not see are not registered in it.
            return [module for module, other in modules.items() if self.graph.relevant_file(view, module) == other]

        return Library(reading, is_package, self._heads, handlers)

    def _reading(self, path: str) -> Reading:
        if path not in self._readings:
            asked = Asked()
            file = self._read(path, ImportContext(asked)) or self._empty(path)
            self._readings[path] = Reading(file, asked.names, lambda context: self._read(path, context) or file)
        return self._readings[path]

    def _read(self, path: str, context: ImportContext) -> SourceFile | None:
        """Read a file; None if that crashes."""
        data, origin = self.sources[path], self.graph.origins[path]
        result = attempt(self.crashes, path, "reading", read, data, path, origin.module, origin.is_package, context)
        if result is None:
            self.unread.add(path)
            return None
        file, problems = result
        self.problems[path] = problems
        if any(item.kind in _UNREADABLE for item in problems):
            self.unread.add(path)
        return file

    def _empty(self, path: str) -> SourceFile:
        origin = self.graph.origins[path]
        return SourceFile(path, origin.module, is_package=origin.is_package)
