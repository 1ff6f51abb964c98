"""The meaning of a difference for the author: which class has to have another version, and what is printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .lines import UNNAMED, Lock
from .lock_differences import LOADING, OLD_OBJECTS, Difference, differences, shown
from .migrations import migrations


def unversioned(old: Lock, new: Lock, classes: Mapping[str, str]) -> list[Difference]:
    """The differences that old checkpoints notice, and that no class around them has raised its version for."""
    raised = {name for name, version in new.versions.items() if version > old.versions.get(name, UNNAMED)}
    return [
        item for item in differences(old, new) if item.needs_version and raised.isdisjoint(_around(item.name, classes))
    ]


def _around(name: str, classes: Mapping[str, str]) -> Iterator[str]:
    """The classes of the modules around a tensor, the innermost first."""
    while name:
        name = name.rpartition(".")[0]
        if name in classes:
            yield classes[name]


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
    return lines or ["  declarations are generated anew, and hold the same"]


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
