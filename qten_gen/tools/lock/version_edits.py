"""Writes what a changed lock needs into the sources: higher versions, and the `migrate` that follows."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator

from ...project.apply import Change, write
from .lines import Lock
from .lock_differences import Difference
from .lock_of_target import Recorded
from .migrations import Migration, migrations


class Fixer:
    """Fixes the classes of one command, each once."""

    def __init__(self, root: str) -> None:
        self._root = os.path.abspath(root)
        self._fixed: set[type] = set()

    def fix(self, found: Iterable[Difference], old: Lock, recorded: Recorded) -> Iterator[str]:
        """Fix the classes of differences, and say what was done, or what a person has to do."""
        for name, migration in migrations(found, old, recorded.lock, recorded.classes).items():
            kind = recorded.types[migration.path]
            if kind in self._fixed:
                continue
            self._fixed.add(kind)
            yield self._fix(name, kind, migration)

    def _fix(self, name: str, kind: type, migration: Migration) -> str:
        """Write a migration into the source of a class, and say so, or why not."""
        try:
            path = inspect.getsourcefile(kind)
        except TypeError:
            path = None
        if path is None or not os.path.abspath(path).startswith(self._root + os.sep):
            return f"error: {name} is not of this project: write the change with --accept, or fix the class around it"
        shown = os.path.relpath(path, self._root)
        if not hasattr(kind, "migrate"):
            help = "raise its _version, and bring older state dicts up to date in _load_from_state_dict"
            return f"error: {shown}: {name} is a plain nn.Module, for which --fix writes nothing: {help}"
        from .codemod import CannotRewrite, with_migration

        try:
            with open(path, "rb") as file:
                before = file.read()
            text = with_migration(before.decode(), kind.__qualname__, migration.version, migration.lines)
        except (CannotRewrite, UnicodeDecodeError) as error:
            return f"error: {shown}: {error}"
        if text is None:
            return f"error: {shown}: the class {kind.__qualname__} is not on the top level: write its migrate by hand"
        write(Change(path, before, text.encode()))
        decide = "; decide what it raises for" if migration.undecided else ""
        then = f"{decide}; read it, and run qten-gen, then qten-gen lock"
        return f"fixed: {shown}: version = {migration.version} and migrate in {name}{then}"
