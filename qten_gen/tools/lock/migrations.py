"""The steps of `migrate` that follow from the differences of two locks, for each class whose version has to be raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .folded_lines import unfolded
from .lines import UNNAMED, Lock
from .lock_differences import Difference, shown


class Migration(NamedTuple):
    """The changes that a class has to make to a state dict of its last version; the names are those in the module."""

    path: str
    """One of the modules of the class."""
    version: int
    """The version that the class gets."""
    renames: tuple[tuple[str, str], ...]
    undecided: tuple[str, ...]
    """The decisions left to a person: `added position: float32 [10, 8] param`."""

    @property
    def lines(self) -> list[str]:
        """The statements, without indentation."""
        body: list[str] = []
        if self.renames:
            pairs = ", ".join(f'("{old}", "{new}")' for old, new in self.renames)
            pairs += "," if len(self.renames) == 1 else ""
            body = [f"for old, new in ({pairs}):", "    if old in state_dict:"]
            body += ["        state_dict[new] = state_dict.pop(old)"]
        if self.undecided:
            what = (line.replace("\\", "\\\\").replace('"', '\\"') for line in self.undecided)
            body += ["raise NotImplementedError(", '    "old checkpoints"', *(f'    "; {line}"' for line in what), ")"]
        return [f"if version < {self.version}:", *(f"    {line}" for line in body)]


def migrations(found: Iterable[Difference], old: Lock, new: Lock, classes: Mapping[str, str]) -> dict[str, Migration]:
    """The migration of each class, by its name; the class of a difference is the innermost that the old lock has, too."""
    known = {path for line in unfolded(old.lines) for path in _around(line.name)}
    of_class: dict[str, tuple[str, dict[Difference, None]]] = {}
    for item in found:
        path = owner(item.name, classes, known)
        if path is None:
            continue
        _, differences = of_class.setdefault(classes[path], (path, {}))
        differences[_within(item, path)] = None
    return {
        name: Migration(
            path,
            max(old.versions.get(name, UNNAMED), new.versions.get(name, UNNAMED)) + 1,
            tuple((item.before, item.name) for item in differences if item.change == "renamed"),
            tuple(" ".join(str(item).split()) for item in shown(differences) if item.change != "renamed"),
        )
        for name, (path, differences) in of_class.items()
    }


def owner(name: str, classes: Mapping[str, str], known: Iterable[str]) -> str | None:
    """The innermost module around a tensor that a user class made, and that there was before."""
    return next((path for path in _around(name) if path in classes and (path in known or not path)), None)


def _around(name: str) -> Iterator[str]:
    """The paths of the modules around a tensor, the innermost first."""
    while name:
        name = name.rpartition(".")[0]
        yield name


def _within(item: Difference, path: str) -> Difference:
    """A difference with the names that a module has for its tensors."""
    prefix = f"{path}." if path else ""
    before = item.before.removeprefix(prefix) if item.change in ("renamed", "tied", "untied") else item.before
    return item._replace(name=item.name.removeprefix(prefix), before=before)
