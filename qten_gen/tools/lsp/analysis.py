"""One project with its open texts: what is wrong with its files, and what they declare; and the projects of an editor."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from keyword import iskeyword
from typing import NamedTuple

from ...generate.parsed import parsed_source
from ...generate.plan import plan
from ...generate.readings import Crash, Readings
from ...model.diagnostics import FOREIGN_OUTPUT, Diagnostic
from ...project.cache import Cache, FreshRecord, load
from ...project.config import ConfigError, config_of, source_paths
from ...project.files import PathError, SourceTexts, discover
from ...project.import_graph import SourceGraph, closure, importers_of
from ...project.judging import judged
from ...project.output_names import is_output, outputs_of
from ...project.paths import below, display_path, read_output, true_path
from ...project.stale import ProjectState, cache_after, project_state
from ...read.syntax import decode, encoding_of
from .mentions import Mention, mentions


class Findings(NamedTuple):
    """The findings of an analysis. Paths are absolute."""

    diagnostics: dict[str, tuple[Diagnostic, ...]]
    """By file, those with nothing wrong left out."""
    crashes: tuple[Crash, ...]
    is_complete: bool = True
    """A file that is not in `diagnostics` has nothing wrong. Otherwise nothing is known of it."""


class CannotRename(Exception):
    """The text says why a field cannot have a name."""


class Analysis:
    """A project, given by its folder, and what the last analysis found of each of its files."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._state: ProjectState | None = None
        self._known: Cache | None = None
        """What the last analysis has found and read."""
        self._unsaved: dict[str, bytes] = {}

    def findings(self, texts: Mapping[str, bytes]) -> Findings:
        """The problem with the files that a run generates for, and with the open ones.

        Args:
            texts: The texts of the open files of the project by path.

        Raises:
            ConfigError: The settings of the project cannot be used.
            PathError: The folder of the project is gone.
        """
        config = config_of(self._folder)
        self._unsaved = {display_path(true_path(path)): text for path, text in texts.items()}
        files = discover([self._folder, *self._unsaved], config, unsaved=self._unsaved)
        root = config.root
        if self._known is None:
            # A run remembers no fixes, so what it found is found again.
            known = load(root)
            self._known = known._replace(fresh={path: each for path, each in known.fresh.items() if not each.warnings})
        state = self._state = project_state(files, root, config, parsed_source, self._unsaved, self._known)
        readings = self._open(state, state.graph)
        outputs = [output for path in state.stale for output in outputs_of(path) if output in state.files.outputs]
        existing = {path: read_output(path) for path in outputs}
        # The files that the last analysis does not answer for.
        planned = plan(readings.sources, existing, state.stale, state.graph, readings)
        found = {path: [*record.warnings] for path, record in state.fresh.items()}
        found |= {path: [] for path in planned.lookups}
        for item in planned.diagnostics:
            if item.path in planned.lookups:
                found[item.path].append(item)
        # A file that crashed is planned again, and one that stands in the way of a file that others wrote: that may have gone.
        again = {item.path for item in planned.diagnostics if item.kind == FOREIGN_OUTPUT}
        again |= {crash.path for crash in planned.crashes}
        fresh = {
            path: FreshRecord(tuple(sorted(names)), {}, "", tuple(found[path]))
            for path, names in planned.lookups.items()
            if path not in again
        }
        self._known = cache_after(state, {**state.fresh, **fresh}, readings)
        inside = [below(display_path(path)) for path in source_paths(config)]
        shown: dict[str, tuple[Diagnostic, ...]] = {}
        for path, items in found.items():
            if path in self._unsaved or not inside or any(contains(path) for contains in inside):
                left = judged([replace(item, path=path) for item in items], config)
                if left:
                    shown[os.path.abspath(path)] = left
        return Findings(shown, planned.crashes)

    def mention_at(self, path: str, place: tuple[int, int]) -> Mention | None:
        """The name of a field or a declared class that stands at a place of a file, as of the last analysis."""
        shown, readings = display_path(true_path(path)), self._all_readings()
        found = _mentions(shown, readings) if readings is not None and shown in readings.graph.origins else ()
        return next((each for each in found if each.is_at(place)), None)

    def mentions_of(self, field: Mention, new: str) -> dict[str, list[Mention]]:
        """The mentions of a field by absolute path: in the file of its class, and in files that import it, directly or not.

        Raises:
            CannotRename: The class has the new name already, or it is no name.
        """
        if not new.isidentifier() or iskeyword(new):
            raise CannotRename(f"{new!r} is no name of a field")
        found: dict[str, list[Mention]] = {}
        readings, module = self._all_readings(), field.origin.rpartition(".")[0]
        if readings is None or self._state is None:
            return found
        graph = readings.graph
        homes = [path for path, origin in graph.origins.items() if f"{module}.".startswith(f"{origin.module}.")]
        for path in sorted(closure(homes, importers_of(graph.imports).__getitem__)):
            text = readings.sources[path]
            if not self._state.files.sources[path].outside and (field.name.encode() in text or new.encode() in text):
                every = list(_mentions(path, readings))
                same = [each for each in every if each.origin == field.origin and each.name == field.name]
                owners = {field.origin, *(each.declaration.qualified for each in same)}
                for cls in {each.declaration.qualified: each.declaration for each in every}.values():
                    names = {other.name: other.owner for other in cls.fields}
                    if new in names and names.get(field.name) in owners:
                        raise CannotRename(f"{cls.qualified} has a field {new} already")
                found[os.path.abspath(path)] = same
        return {path: several for path, several in found.items() if several}

    def _all_readings(self) -> Readings | None:
        """The files of the project, of which those count too that declare nothing; None before the first analysis."""
        if self._state is None:
            return None
        graph = self._state.graph
        heads = frozenset(origin.module.partition(".")[0] for origin in graph.origins.values())
        return self._open(self._state, graph._replace(relevant=frozenset(graph.origins), heads=heads))

    def _open(self, state: ProjectState, graph: SourceGraph) -> Readings:
        return Readings(SourceTexts(graph.origins, self._unsaved), graph, state.parsed)


def _mentions(path: str, readings: Readings) -> Iterator[Mention]:
    """The names in a file; none in one that is no valid Python."""
    linked = readings.program(path).linked(readings.graph.origins[path].module)
    text = decode(readings.sources[path], path)
    if linked is not None and path not in readings.unread and isinstance(text, str):
        yield from mentions(linked[0], text)


class Workspace:
    """The projects of an editor. A file belongs to the nearest one upwards, as for the command."""

    def __init__(self) -> None:
        self.folders: set[str] = set()
        """The folders that the editor shows."""
        self.texts: dict[str, bytes] = {}
        """The texts of open files by absolute path."""
        self._analyses: dict[str, Analysis] = {}

    def project(self, path: str) -> str:
        """The folder of the project that a file or folder belongs to."""
        try:
            config = config_of(path)
        except ConfigError as error:
            return os.path.dirname(os.path.abspath(error.diagnostic.path))
        if config.has_file:
            return config.root
        around = [folder for folder in self.folders if path == folder or path.startswith(os.path.join(folder, ""))]
        return max(around, key=len) if around else path if os.path.isdir(path) else os.path.dirname(path)

    def projects(self, paths: Iterable[str] = ()) -> set[str]:
        """The projects of these files, or of all open files and folders without any."""
        return {self.project(path) for path in (tuple(paths) or (*self.folders, *self.texts))}

    def analysis(self, project: str) -> Analysis:
        """The analysis of a project."""
        return self._analyses.setdefault(project, Analysis(project))

    def findings(self, project: str) -> Findings:
        """The problem with the files of a project. Settings that cannot be used are the only finding, if they are wrong."""
        own = {path: text for path, text in self.texts.items() if self.project(path) == project}
        try:
            return self.analysis(project).findings(own)
        except ConfigError as error:
            return Findings({os.path.abspath(error.diagnostic.path): (error.diagnostic,)}, (), is_complete=False)
        except PathError:
            return Findings({}, ())


def is_source(path: str) -> bool:
    """True for a file that may declare something."""
    return path.endswith(".py") and not is_output(path)


def encoded(text: str) -> bytes:
    """The bytes of a text in the encoding that it names, as an editor would save it."""
    data = text.encode("utf-8", "replace")
    encoding = encoding_of(data)
    if isinstance(encoding, str) and encoding.startswith("utf-8"):
        return data
    try:
        return text.encode(encoding if isinstance(encoding, str) else "utf-8", "replace")
    except LookupError:
        return data
