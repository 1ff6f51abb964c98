"""Links and checks files, and finds the files that cannot be generated because of errors in others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .. import rules
from ..common.records import record
from ..link.lookups import remembered
from ..model import FileDecl, SourceFile
from ..model.diagnostics import Diagnostic
from ..project.output_names import outputs_of
from .readings import Readings, attempt
from .suppression import unsuppressed
from .unresolved_imports import was_generated


@record(frozen=True, slots=True)
class Examined:
    """A file with its declarations and what the rules say."""

    linked: FileDecl | None
    """None if linking crashed."""
    found: tuple[Diagnostic, ...]
    """The diagnostics, without spans. Empty if a file that it depends on cannot be read, which may be the cause."""
    unread: frozenset[str]
    """The other files that it depends on and that cannot be read."""
    is_broken: bool
    """True if it has an error, cannot be read, or crashed the generator."""
    is_suspect: bool
    """True if anything was found in it, even if an unread file may be the cause."""


class Examination:
    """The examined files of one program."""

    def __init__(self, readings: Readings, path: str) -> None:
        self._readings = readings
        self._view = readings.graph.view(path)
        self._program = readings.program(path)
        self.lookups = self._program.lookups

    @remembered
    def of(self, path: str) -> Examined:
        """A file, linked and checked. What is found is dropped if a file that it depends on cannot be read."""
        readings, crashes = self._readings, self._readings.crashes
        module = readings.graph.origins[path].module
        # Recorded, to see which of the files that were asked cannot be read.
        with self.lookups.recorded() as lookups:
            result = attempt(crashes, path, "linking", self._program.linked, module)
            said: tuple[Diagnostic, ...] = ()
            if result is not None:
                unimported = () if path in readings.graph.imported else (path,)
                said = (
                    *result[1],
                    *(attempt(crashes, path, "checking", rules.check, result[0], unimported) or ()),
                    *(attempt(crashes, path, "checking", self._of_inner_classes, result[0].source) or ()),
                )
        self.lookups.add(lookups)
        unread = self._unread(lookups) - {path}
        own = (*readings.problems.get(path, ()), *(() if unread else said))
        if result is not None and result[0].source.suppressed and not unread:
            kept = attempt(crashes, path, "locating", unsuppressed, own, path, readings.sources[path])
            own = own if kept is None else kept
        broken = path in readings.unread or any(item.is_error for item in own)
        crashed = any(crash.path == path for crash in crashes)
        return Examined(result and result[0], own, unread, broken or crashed, bool(said))

    def blocking(self, path: str, existing: Mapping[str, bytes]) -> frozenset[str]:
        """The broken files that a file depends on, because they declare ancestors of its classes.

        A class in the module that was generated for it before, which is no declaration any more, depends on all of its ancestors,
        because one that cannot be found now may have been a declaration.
        """
        found = {*self.of(path).unread}
        for home in {*self._homes(path, existing)} - {path}:
            if home in self._readings.sound:
                self.lookups.add(self._readings.sound[home])
            else:
                examined = self.of(home)
                found |= examined.unread | ({home} if examined.is_broken else set())
        return frozenset(found - {path})

    def _homes(self, path: str, existing: Mapping[str, bytes]) -> Iterator[str]:
        """The files of the ancestors of the classes that a file declares, or has declared."""
        graph, ancestry = self._readings.graph, self._program.ancestry
        linked = self.of(path).linked
        declared = {declaration.qualified for declaration in linked.declarations} if linked else ()
        for cls in linked.source.classes if linked else ():
            qualified = f"{graph.origins[path].module}.{cls.qualname}"
            if qualified in declared or was_generated(cls.name, existing.get(outputs_of(path)[0], b"")):
                for name in ancestry.mro(qualified)[1:]:
                    home = graph.relevant_file(self._view, name.rpartition(".")[0])
                    if home is not None and (qualified not in declared or ancestry.root(name) is not None):
                        yield home

    def _of_inner_classes(self, file: SourceFile) -> tuple[Diagnostic, ...]:
        """The diagnostics for classes inside classes, from the rules in a program where these are declarations."""
        specified = any(field.specifier is not None for cls in file.inner for field in cls.fields)
        if not specified and not any(cls.bases or cls.checks for cls in file.inner):
            return ()
        program = self._program.with_inner
        with program.lookups.recorded() as lookups:
            result = program.linked(file.module)
            found = (*result[1], *rules.check(result[0])) if result is not None else ()
        self.lookups.add(lookups)
        places = [cls.place.steps for cls in file.inner]
        names = program.names
        for each in file.registrations:
            owner = names.class_of(names.resolve(each.owner.name))
            if owner is not None and owner[1].outer:
                places.append(each.place.steps[:-2])  # the function below the decorator
        return tuple(item for item in found if any(item.place.steps[: len(steps)] == steps for steps in places))

    def _unread(self, lookups: Iterable[str]) -> frozenset[str]:
        if not self._readings.unread:
            return frozenset()
        found = (self._readings.graph.relevant_file(self._view, name) for name in lookups)
        return frozenset(path for path in found if path is not None and path in self._readings.unread)
