"""Links and checks files, and finds the files that cannot be generated because of errors in others."""

from __future__ import annotations

from collections.abc import Iterable

from .. import rules
from ..common.records import record
from ..link.lookups import Remembered
from ..model import ClassSource, FileDecl, SourceFile
from ..model.diagnostics import Diagnostic
from .crashes import attempt
from .readings import Readings
from .suppression import unsuppressed


@record(frozen=True, slots=True)
class Examined:
    """A file with its declarations and what the rules say."""

    linked: FileDecl | None
    """None if linking crashed."""
    found: tuple[Diagnostic, ...]
    """What is wrong with it, without spans. Empty if a file that it depends on cannot be read, which may be the cause."""
    unread: frozenset[str]
    """The other files that it depends on and that cannot be read."""
    is_broken: bool
    """Whether it has an error, cannot be read, or crashed the generator."""
    is_suspect: bool
    """Whether anything was found in it, even if an unread file may be the cause."""


class Examination:
    """The examined files of one program."""

    def __init__(self, readings: Readings, path: str) -> None:
        self._readings = readings
        self._view = readings.graph.view(path)
        self._program = readings.program(path)
        self._files: Remembered[str, Examined] = {}

    def of(self, path: str) -> Examined:
        """A file, examined at most once."""
        return self._program.lookups.once(self._files, path, self._examined)

    def blocking(self, path: str) -> frozenset[str]:
        """The broken files that a file depends on: those that declare the bases of its classes, directly or indirectly."""
        found: set[str] = set()
        waiting, seen = [path], {path}
        while waiting:
            current = waiting.pop()
            with self._program.lookups.recorded():  # whether it is broken is the only look-up
                examined = self.of(current)
            if current != path:
                self._program.lookups.note(f"+{self._readings.graph.origins[current].module}")
            found |= examined.unread
            if examined.is_broken and current != path:
                found.add(current)
            homes = {home for name in _bases(examined.linked) if (home := self._home(name)) is not None}
            waiting += homes - seen
            seen |= homes
        return frozenset(found - {path})

    def _home(self, qualified: str) -> str | None:
        return self._readings.graph.relevant_file(self._view, qualified.rpartition(".")[0])

    def _examined(self, path: str) -> Examined:
        """Link and check a file. What is found is dropped if a file that it depends on cannot be read."""
        readings, crashes = self._readings, self._readings.crashes
        module = readings.graph.origins[path].module
        with self._program.lookups.recorded() as lookups:
            result = attempt(crashes, path, "linking", self._program.linked, module)
            said: tuple[Diagnostic, ...] = ()
            if result is not None:
                unimported = () if path in readings.graph.imported else (path,)
                said = (
                    *result[1],
                    *(attempt(crashes, path, "checking", rules.check, result[0], unimported) or ()),
                    *(attempt(crashes, path, "checking", self._of_inner_classes, result[0].source) or ()),
                )
        self._program.lookups.add(lookups)
        unread = self._unread(lookups) - {path}
        own = (*readings.problems.get(path, ()), *(() if unread else said))
        if result is not None and result[0].source.suppressed and not unread:
            kept = attempt(crashes, path, "locating", unsuppressed, own, path, readings.sources[path])
            own = own if kept is None else kept
        broken = path in readings.unread or any(item.is_error for item in own)
        crashed = any(crash.path == path for crash in crashes)
        return Examined(result and result[0], own, unread, broken or crashed, bool(said))

    def _of_inner_classes(self, file: SourceFile) -> tuple[Diagnostic, ...]:
        """What is wrong with the classes inside classes, which the rules find in a program where they are declarations."""
        if not any(map(_may_declare, file.inner)):
            return ()
        program = self._program.with_inner
        with program.lookups.recorded() as lookups:
            result = program.linked(file.module)
            found = (*result[1], *rules.check(result[0])) if result is not None else ()
        self._program.lookups.add(lookups)
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
        modules = {name.partition(":")[0] for name in lookups}
        found = (self._readings.graph.relevant_file(self._view, module) for module in modules)
        return frozenset(path for path in found if path is not None and path in self._readings.unread)


def _may_declare(cls: ClassSource) -> bool:
    """Whether a class may be a declaration, or use specifiers where it is none."""
    return bool(cls.bases or cls.checks) or any(field.specifier is not None for field in cls.fields)


def _bases(file: FileDecl | None) -> set[str]:
    return {base.name for item in file.declarations for base in item.bases if base.declared} if file else set()
