"""Keeps a lock: records what the code says, compares it with the file, and writes the file."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from ...project.apply import Change, write_in_new_folders
from ..inspect.request import InspectionError
from .digests import digests
from .followed import followed
from .lines import UNNAMED, Lock
from .lock_of_target import Recorded, record
from .lock_text import LockError, as_text, read
from .trying import tried
from .verdict import refusal, told, unversioned
from .version_edits import Fixer


class Kept(NamedTuple):
    """The outcome for a lock."""

    lines: tuple[str, ...]
    errors: tuple[str, ...] = ()
    is_stale: bool = False
    is_misuse: bool = False
    files: frozenset[str] | None = None
    """The files that the lock follows from, if it is as the code says."""


class Keeper:
    """Writes or checks the locks of one command."""

    def __init__(
        self, root: str, import_roots: tuple[str, ...], *, check: bool, accept: bool, fix: bool = False
    ) -> None:
        self._root = root
        self._roots = import_roots
        self._check = check
        self._accept = accept
        self._fixer = Fixer(root) if fix else None

    def keep(self, target: str, path: str) -> Kept:
        """Bring a lock up to date, or with `check` say how it differs."""
        try:
            old = _read(path)
            recorded = record(target, self._roots)
        except InspectionError as error:
            problems = (f"error: {target}: {problem}" for problem in error.problems)
            return Kept((), (*error.trace.splitlines(), *problems), is_misuse=error.is_misuse)
        except (LockError, OSError, UnicodeDecodeError) as error:
            what = error.strerror if isinstance(error, OSError) else str(error)
            return Kept((), (f"error: {path}: {what}; delete it and run qten-gen lock",), is_misuse=True)
        new = _with_earlier(old, recorded.lock._replace(declarations=digests(_sources(recorded), self._root)))
        model = recorded.model
        broken = [] if model is None else tried(model, recorded.classes, new)
        if broken and self._accept:
            new = new._replace(earlier=())  # nobody has to load them
        elif broken and old is not None:
            return Kept((f"stale: {path}", *told(old, new)), tuple(f"error: {path}: {each}" for each in broken), True)
        if old == new:
            return Kept((f"up to date: {path}",), files=followed(path))
        return self._changed(path, old, recorded, new)

    def _changed(self, path: str, old: Lock | None, recorded: Recorded, new: Lock) -> Kept:
        """Write a lock that differs, unless it is only checked, or a version has to be raised first."""
        said = () if old is None else tuple(told(old, new))
        missing = [] if old is None or self._accept else unversioned(old, new, recorded.classes)
        if old is not None and missing and self._fixer is not None:
            return Kept((f"stale: {path}", *said), tuple(self._fixer.fix(missing, old, recorded)), is_stale=True)
        if missing or self._check:
            state = f"missing: {path}" if old is None else f"stale: {path}"
            help = (
                f"error: {path}: {refusal(missing, old, new, recorded.classes)}" if old is not None and missing else ""
            )
            advice = help or "help: run qten-gen lock, and commit what it writes"
            return Kept((state, *said), (advice,), is_stale=True)
        try:
            write_in_new_folders(Change(path, None, as_text(new).encode()))
        except OSError as error:
            return Kept(said, (f"error: {path}: cannot write it: {error.strerror}",), is_misuse=True)
        return Kept((f"written: {path}", *said))


def _sources(recorded: Recorded) -> list[str]:
    """The files of the classes that a lock follows from."""
    files = (getattr(sys.modules.get(kind.__module__), "__file__", None) for kind in recorded.types.values())
    return [file for file in files if file]


def _read(path: str) -> Lock | None:
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return read(file.read())


def _with_earlier(old: Lock | None, new: Lock) -> Lock:
    """The new lock with the earlier ones; the old one is among these if a class has a higher version now."""
    if old is None:
        return new
    raised = any(version > old.versions.get(name, UNNAMED) for name, version in new.versions.items())
    before = (old._replace(target=new.target, declarations={}, earlier=()),) if raised else ()
    earlier = tuple(lock._replace(target=new.target) for lock in old.earlier)
    return new._replace(earlier=(*before, *earlier))
