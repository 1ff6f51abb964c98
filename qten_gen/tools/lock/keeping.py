"""Keeps a lock: records what the code says, compares it with the file, says what a difference means, and writes the file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...project.apply import Change, write_in_new_folders
from ..inspect.request import InspectionError
from .lines import UNNAMED, Lock
from .lock_differences import LOADING, OLD_OBJECTS, Difference, differences, shown
from .lock_of_target import Recorded, record
from .lock_text import LockError, as_text, read
from .migrations import around, migrations, tried
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
        new = _with_earlier(old, recorded.lock)
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
    before = (old._replace(target=new.target, earlier=()),) if raised else ()
    earlier = tuple(lock._replace(target=new.target) for lock in old.earlier)
    return new._replace(earlier=(*before, *earlier))


def unversioned(old: Lock, new: Lock, classes: Mapping[str, str]) -> list[Difference]:
    """The differences that old checkpoints notice, and that no class around them has raised its version for."""
    raised = {name for name, version in new.versions.items() if version > old.versions.get(name, UNNAMED)}
    found: list[Difference] = []
    for item in differences(old, new):
        is_raised = any(classes.get(path) in raised for path in around(item.name))
        found += [item] if item.needs_version and not is_raised else []
    return found


def told(old: Lock, new: Lock) -> list[str]:
    """The differences by what an old checkpoint does, those of equal layers as one."""
    meanings = LOADING if new.versions or old.versions else OLD_OBJECTS
    by_meaning: dict[str, list[str]] = {}
    for item in shown(differences(old, new)):
        is_noticed = item.needs_version or item.change in ("respelled", "kept", "unkept")
        meaning = f"{item.change}: {meanings[item.change] if is_noticed else 'no checkpoint notices'}"
        by_meaning.setdefault(meaning, []).append(str(item)[12:])
    lines: list[str] = []
    for meaning, names in by_meaning.items():
        lines += [f"  {meaning}", *(f"    {name}" for name in names)]
    for name in dict.fromkeys([*old.versions, *new.versions]):
        before, after = old.versions.get(name, UNNAMED), new.versions.get(name, UNNAMED)
        lines += [f"  version of {name}: {before} -> {after}"] if before != after else []
    return lines


def refusal(found: Iterable[Difference], old: Lock, new: Lock, classes: Mapping[str, str]) -> str:
    """Why a lock is not written, and what to do."""
    needed = migrations(found, old, new, classes)
    if not needed:
        return "old checkpoints notice this: write it with --accept if that is meant"
    wanted = " and ".join(f"version = {each.version} in {name}" for name, each in needed.items())
    return (
        f"old checkpoints notice this, and no version was raised: set {wanted} (_version for a plain nn.Module), with a "
        "migrate that brings old checkpoints up to date (--fix writes both), or write it with --accept"
    )


def followed(lock: str) -> frozenset[str]:
    """All files that Python has imported, and the lock itself; of Python and torch, one file stands for all.

    The folders in which Python looks for modules count too: one that is added there may be imported in place of another.
    """
    standard = os.path.dirname(os.__file__)
    torch = f"{os.sep}torch{os.sep}"
    modules = [vars(module) for module in list(sys.modules.values())]
    places = [names.get("__file__") for names in modules]
    files = {file for file in places if isinstance(file, str)}
    own = {file for file in files if not file.startswith(standard) or "-packages" in file}
    kept = {file for file in own if torch not in file or file.endswith(f"{torch}__init__.py")}
    lists = [names.get("__path__") or () for names in modules if names.get("__file__") is None]
    without_init = {folder for paths in lists for folder in paths if isinstance(folder, str)}
    folders = {*map(os.path.dirname, kept), *without_init, *map(os.path.abspath, sys.path)}
    return frozenset({*kept, *folders, sys.executable, os.path.abspath(lock)})
