"""The differences between two states of a model: two locks, or a checkpoint and the module that loads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

from .folded_names import fold, with_number, with_segment

Change = Literal[
    "added",
    "removed",
    "renamed",
    "reshaped",
    "recast",
    "tied",
    "untied",
    "persistence",
    "kind",
    "respelled",
    "kept",
    "unkept",
]


LOADING: Mapping[Change, str] = {
    "added": "strict=True reports it; strict=False leaves it as it was initialised",
    "removed": "strict=True reports it; strict=False drops it",
    "renamed": "strict=True reports both names; strict=False leaves the new one as it was initialised",
    "reshaped": "loading fails, with strict=False too",
    "tied": "a declared tie refuses different values; of one made by hand the last counts, for both names",
    "untied": "loads without a word: two equal values, in tensors that are no longer one",
    "recast": "loads without a word, cast to the dtype of the model; with assign=True it keeps that of the file",
    "persistence": "strict=True reports it; strict=False leaves it as it was initialised, or drops it",
    "kind": "loads; the state of an optimizer does not fit",
    "respelled": "loads; models of other sizes may have another shape",
    "kept": "loads; a cast of the module leaves its dtype now",
    "unkept": "loads; a cast of the module changes its dtype now",
}
"""The effect of each class of difference when a checkpoint is loaded, the worst first."""


class Difference(NamedTuple):
    """A difference between an old lock and a new one, or several equal ones of numbered layers."""

    change: Change
    name: str
    """The name in the new lock; in the old one if it was removed."""
    before: str = ""
    after: str = ""
    needs_version: bool = True
    """Old checkpoints notice, so that a class has to have another version."""

    @property
    def detail(self) -> str:
        """`head.weight: [10, 64] -> [12, 64]`."""
        if self.change == "renamed":
            return f"{self.before} -> {self.name}"
        what = " -> ".join(filter(None, (self.before, self.after)))
        return f"{self.name}{': ' if what else ''}{what}"


def shown(found: Iterable[Difference]) -> list[Difference]:
    """The differences, equal layers as one: `blocks.{0-47}.qkv.weight`."""
    return fold(found, lambda item: item.name, _renumbered, lambda item: item._replace(name=""), whole_layers=False)


def _renumbered(item: Difference, position: int, segment: str) -> Difference:
    """A difference under another number; an old name with the same number goes with it."""
    number = item.name.split(".")[position]
    return item._replace(
        name=with_segment(item.name, position, segment),
        before=with_number(item.before, position, number, segment),
        after=with_number(item.after, position, number, segment),
    )


class FileTensor(NamedTuple):
    """A tensor in a checkpoint."""

    dtype: str
    shape: str
    """As in a lock, `[192, 64]`."""
    memory: object = None
    """A value that is equal for two names of one tensor, where the file has one."""


class ModelTensor(Protocol):
    """A tensor of a model under one of its names."""

    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def tie(self) -> str:
        """The name under which it stands first; empty for the first one."""
        ...


_PREFIXES = ("model.", "module.", "state_dict.", "_orig_mod.")
"""Prefixes that trainers put before the names of a model."""


class Comparison(NamedTuple):
    """The differences between a checkpoint and a lock."""

    differences: list[Difference]
    prefix: str
    """The prefix of all names in the file."""

    @property
    def fails(self) -> bool:
        """A strict load reports something."""
        return any(item.change in ("added", "removed", "reshaped") for item in self.differences)

    def lines(self) -> list[str]:
        """The differences by what loading does, equal layers as one, the worst first."""
        lines = [f"  the names begin with {self.prefix!r}, which has to be removed"] if self.prefix else []
        by_change: dict[Change, list[str]] = {change: [] for change in LOADING}
        for item in _summed(shown(self.differences)):
            by_change[item.change].append(item.detail)
        for change, names in by_change.items():
            lines += [f"  {_WORDS.get(change, change)}: {LOADING[change]}"] if names else []
            lines += [f"    {name}" for name in names]
        return lines


_WORDS: Mapping[Change, str] = {"added": "missing", "removed": "unexpected", "tied": "untied"}
"""The names of the classes where a checkpoint is compared, whose tensors are the old ones."""
_MANY = 6


def _summed(found: list[Difference]) -> list[Difference]:
    """The differences, with many equal casts as one."""
    casts: dict[tuple[str, str], list[Difference]] = {}
    for item in found:
        if item.change == "recast":
            casts.setdefault((item.before, item.after), []).append(item)
    summed = [item for item in found if item.change != "recast"]
    for items in casts.values():
        is_many = len(items) >= _MANY
        summed += [items[0]._replace(name=f"{items[0].name} and {len(items) - 1} others")] if is_many else items
    return summed


def compared(file: Mapping[str, FileTensor], wanted: Mapping[str, ModelTensor]) -> Comparison:
    """The differences between a file and a model, whose tensors are given by all their names."""
    prefix = _prefix(file, wanted)
    given = (
        {name.removeprefix(prefix): stored for name, stored in file.items() if name.startswith(prefix)}
        if prefix
        else file
    )
    found: list[Difference] = []
    for name, line in wanted.items():
        stored, target = given.get(name), wanted.get(line.tie, line) if line.tie else line
        if stored is None:
            tied = f"= {line.tie}" if line.tie else f"{line.dtype} {line.shape} {line.kind}"
            found.append(Difference("added", name, tied))
            continue
        if target.shape not in (stored.shape, "?"):
            found.append(Difference("reshaped", name, stored.shape, target.shape))
        if target.dtype != stored.dtype:
            found.append(Difference("recast", name, stored.dtype, target.dtype))
        if line.tie and line.tie in given and (stored.memory is None or stored.memory != given[line.tie].memory):
            found.append(Difference("tied", name, line.tie))
    found += [
        Difference("removed", name, f"{stored.dtype} {stored.shape}")
        for name, stored in given.items()
        if name not in wanted
    ]
    return Comparison(found, prefix)


def _prefix(file: Mapping[str, FileTensor], wanted: Mapping[str, object]) -> str:
    """The prefix to remove from the names, if none of them is in the lock as it is."""
    if not wanted.keys().isdisjoint(file):
        return ""
    for each in _PREFIXES:
        if any(name.removeprefix(each) in wanted for name in file if name.startswith(each)):
            return each
    return ""
