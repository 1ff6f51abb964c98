"""Brings a lock up to date: compares the code with the file, says what a difference means, and writes the file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...project.apply import Change, write_in_new_folders
from ..inspect.user_code import InspectionError
from .lock import UNNAMED, Lock, LockError, as_text, read, unfolded
from .lock_differences import LOADING, OLD_OBJECTS, Difference, differences, shown


class Outcome(NamedTuple):
    """What happened to a lock."""

    lines: tuple[str, ...]
    errors: tuple[str, ...] = ()
    is_misuse: bool = False
    is_current: bool = False
    """The file was as the code says."""


def update(target: str, path: str, import_roots: tuple[str, ...], *, check: bool, accept: bool) -> Outcome:
    """Write the lock of a target, unless it is only checked, or an old checkpoint notices a change that has no higher version.

    Args:
        target: `shop.model:Decoder(width=64)`.
        path: The file of the lock.
        import_roots: Folders to import from, beside `sys.path`.
        check: Write nothing.
        accept: Write changes that need a higher version too, and forget earlier locks whose checkpoints do not load.
    """
    from .lock_of_target import broken_migrations, current

    try:
        old = read(path) if os.path.exists(path) else None
        code = current(target, import_roots)
    except InspectionError as error:
        problems = (f"error: {target}: {problem}" for problem in error.problems)
        return Outcome((), (*error.trace.splitlines(), *problems), is_misuse=error.is_misuse)
    except (LockError, OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        return Outcome((), (f"error: {path}: {what}; delete it and run qten-gen lock",), is_misuse=True)
    new = _with_earlier(old, code.lock)
    changes = () if old is None else tuple(_changes(old, new))
    broken = broken_migrations(code, new)
    if broken and accept:
        new = new._replace(earlier=())
    elif broken:
        return Outcome((f"stale: {path}", *changes), tuple(f"error: {path}: {each}" for each in broken))
    if old == new:
        return Outcome((f"up to date: {path}",), is_current=True)
    problem = None if old is None or accept else unversioned(old, new, code.classes)
    if problem is not None or check:
        state = ("missing" if old is None else "stale" if changes else "stale, but with the same tensors") + f": {path}"
        advice = f"error: {path}: {problem}" if problem else "help: run qten-gen lock, and commit what it writes"
        return Outcome((state, *changes), (advice,))
    try:
        write_in_new_folders(Change(path, None, as_text(new).encode()))
    except OSError as error:
        return Outcome(changes, (f"error: {path}: cannot write it: {error.strerror}",), is_misuse=True)
    return Outcome((f"written: {path}", *changes))


def _with_earlier(old: Lock | None, new: Lock) -> Lock:
    """The new lock with the earlier ones; the old one is among these if a class has a higher version now."""
    if old is None:
        return new
    before = (old._replace(target=new.target, earlier=()),) if _raised(old, new) else ()
    return new._replace(earlier=(*before, *(lock._replace(target=new.target) for lock in old.earlier)))


def _raised(old: Lock, new: Lock) -> set[str]:
    """The classes with a higher version than in an old lock."""
    return {name for name, version in new.versions.items() if version > old.versions.get(name, UNNAMED)}


def unversioned(old: Lock, new: Lock, classes: Mapping[str, str]) -> str | None:
    """What to do about differences that old checkpoints notice, and that no class around them has raised its version for.

    Args:
        old: The lock in the file.
        new: The lock of the code.
        classes: The name of the class of each module by its path.
    """
    raised = _raised(old, new)
    existing = {path for line in unfolded(old.lines) for path in _around(line.name)}
    is_missing, versions = False, dict[str, int]()
    for item in differences(old, new):
        around = [path for path in _around(item.name) if path in classes]
        if not item.needs_version or any(classes[path] in raised for path in around):
            continue
        is_missing = True
        # The innermost class that the old lock has too: of a new one there are no checkpoints.
        owner = next((classes[path] for path in around if path in existing or not path), None)
        if owner is not None:
            versions[owner] = max(old.versions.get(owner, UNNAMED), new.versions.get(owner, UNNAMED)) + 1
    if not is_missing:
        return None
    if not versions:
        return "old checkpoints notice this: write it with --accept if that is meant"
    higher = " and ".join(f"version = {version} in {name}" for name, version in versions.items())
    return (
        f"old checkpoints notice this, and no version was raised: set {higher}, with a migrate that brings old checkpoints "
        "up to date (_version and _load_from_state_dict of a plain nn.Module), or write the lock with --accept"
    )


def _around(name: str) -> Iterator[str]:
    """The paths of the modules around a tensor, the innermost first."""
    while name:
        name = name.rpartition(".")[0]
        yield name


def _changes(old: Lock, new: Lock) -> Iterator[str]:
    """The differences by their effect on an old checkpoint, equal layers as one."""
    meanings = LOADING if new.versions or old.versions else OLD_OBJECTS
    by_meaning: dict[str, list[Difference]] = {}
    for item in shown(differences(old, new)):
        is_noticed = item.needs_version or item.change in ("respelled", "kept", "unkept")
        meaning = f"{item.change}: {meanings[item.change] if is_noticed else 'no checkpoint notices'}"
        by_meaning.setdefault(meaning, []).append(item)
    for meaning, items in by_meaning.items():
        yield f"  {meaning}"
        yield from (f"    {item.detail}" for item in items)
    for name in dict.fromkeys([*old.versions, *new.versions]):
        before, after = old.versions.get(name, UNNAMED), new.versions.get(name, UNNAMED)
        if before != after:
            yield f"  version of {name}: {before} -> {after}"
