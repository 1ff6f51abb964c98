"""Reads and links the files of a run on demand, each at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ..common.header import digest
from ..common.records import record
from ..model import Asked, ImportContext, SourceFile
from ..model.diagnostics import SYNTAX_ERROR, UNDECODABLE_FILE, Diagnostic
from ..project.import_graph import SourceGraph, View
from ..read.module import read
from .parsed import UNREAD, Parsed, content_of, decoded, encoded

if TYPE_CHECKING:
    from ..link.program import Library, Program, Reading

_P = ParamSpec("_P")
_T = TypeVar("_T")


@record(frozen=True, slots=True)
class Crash:
    """An unexpected exception: the file, the stage, and the traceback."""

    path: str
    stage: str
    traceback: str


def attempt(
    crashes: list[Crash], path: str, stage: str, step: Callable[_P, _T], *args: _P.args, **keywords: _P.kwargs
) -> _T | None:
    """Call `step` and return its result. If it raises, add a crash to `crashes` and return None."""
    try:
        return step(*args, **keywords)
    except Exception:
        from traceback import format_exc

        crashes.append(Crash(path, stage, format_exc()))
        return None


_UNREADABLE = (SYNTAX_ERROR, UNDECODABLE_FILE)
"""After one of these errors, the declarations of a file are not known."""


class Readings:
    """The files of a run as they have been read so far, and what came up.

    Args:
        sources: The bytes of all files by path.
        graph: The files and their imports.
        parsed: Files that have been parsed before, as they are in the cache; None where nothing will be saved there.
        heads_only: True to read nothing of the bodies of classes.
    """

    def __init__(
        self,
        sources: Mapping[str, bytes],
        graph: SourceGraph,
        parsed: Mapping[str, bytes] | None = None,
        *,
        heads_only: bool = False,
    ) -> None:
        self.sources = sources
        self.graph = graph
        self.parsed = dict(parsed or {})
        """The files that are parsed, as they go into the cache."""
        self.problems: dict[str, tuple[Diagnostic, ...]] = {}
        """Why files cannot be read."""
        self.unread: set[str] = set()
        """The files whose declarations are not known."""
        self.sound: Mapping[str, Iterable[str]] = {}
        """Files that are known to have no error, with the look-ups that this depends on."""
        self.crashes: list[Crash] = []
        self._readings: dict[str, Parsed] = {}
        self._programs: dict[View, Program] = {}
        self._heads = graph.heads
        self._is_saved = parsed is not None
        self._read_source = partial(read, heads_only=heads_only)

    def program(self, path: str) -> Program:
        """The files as a program sees them that is imported from the same folder as a file."""
        view = self.graph.view(path)
        if view not in self._programs:
            from ..link.program import Program  # most changes are no reason to link

            self._programs[view] = Program(self._library(view))
        return self._programs[view]

    def content(self, path: str) -> str:
        """The digest of what a file says."""
        self._reading(path)
        if path in self.parsed:
            return content_of(self.parsed[path])
        return UNREAD if path in self.unread else digest(self.sources[path])

    @property
    def contents(self) -> dict[str, str]:
        """The digests of what the files say that were read."""
        return {path: self.content(path) for path in self._readings}

    def take_over(self, earlier: Readings, paths: Iterable[str]) -> None:
        """Take over what was read of files that have not changed since."""
        for path in paths:
            if path in earlier._readings:
                self._readings[path] = earlier._readings[path]
                if path in earlier.problems:
                    self.problems[path] = earlier.problems[path]
                if path in earlier.unread:
                    self.unread.add(path)

    def _library(self, view: View) -> Library:
        """The files of a program, found by module name in a view."""
        from ..link.program import Library, Reading

        def reading(module: str) -> Reading | None:
            path = self.graph.relevant_file(view, module)
            if path is None:
                return None
            file, asked = self._reading(path)
            return Reading(file, asked, lambda context: self._read(path, context) or file)

        def is_package(module: str) -> bool | None:
            path = self.graph.relevant_file(view, module)
            return None if path is None else self.graph.origins[path].is_package

        return Library(reading, is_package, self._heads)

    def _reading(self, path: str) -> Parsed:
        if path not in self._readings:
            self._readings[path] = self._recalled(path) or self._parsed(path)
        return self._readings[path]

    def _recalled(self, path: str) -> Parsed | None:
        """A file as it was parsed before; None if it was not, or if what there is of it is damaged."""
        try:
            return decoded(self.parsed[path], path)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            self.parsed.pop(path, None)
            return None

    def _parsed(self, path: str) -> Parsed:
        asked = Asked()
        origin = self.graph.origins[path]
        empty = SourceFile(path, origin.module, is_package=origin.is_package)
        found = Parsed(self._read(path, ImportContext(asked)) or empty, frozenset(asked.names))
        if self._is_saved and path not in self.unread:
            with suppress(TypeError, RecursionError):
                self.parsed[path] = encoded(found)
        return found

    def _read(self, path: str, context: ImportContext) -> SourceFile | None:
        """Read a file; None if that crashes."""
        data, origin = self.sources[path], self.graph.origins[path]
        given = data, path, origin.module, origin.is_package, context
        result = attempt(self.crashes, path, "reading", self._read_source, *given)
        if result is None:
            self.unread.add(path)
            return None
        file, problems = result
        self.problems[path] = problems
        if any(item.kind in _UNREADABLE for item in problems):
            self.unread.add(path)
        return file
