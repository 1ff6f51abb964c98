"""Folds equal layers that were called alike: `blocks.0`, ..., `blocks.47` are shown once, as `blocks.0-47`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from .model_tree import ModuleEntry
from .recorded_calls import Call


@dataclass(frozen=True, slots=True)
class Folded:
    """A module, or several equal ones that follow each other."""

    entry: ModuleEntry
    """The first of them."""
    label: str
    """Its name, or the names of the first and the last: `0-47`."""
    count: int
    children: tuple[Folded, ...]
    calls: tuple[Call, ...]
    """The calls of the first of them, equal ones once."""
    call_count: int
    """How often the first was called."""

    @property
    def parameters(self) -> int:
        """The parameters of all of them."""
        return self.entry.parameters * self.count

    @property
    def bytes(self) -> int:
        """The memory of all of them."""
        return self.entry.bytes * self.count


def fold(tree: ModuleEntry, calls: Sequence[Call] = (), *, folds: bool = True) -> Folded:
    """The tree with equal layers folded, those of equal content that were called alike; with `folds` off, as it is."""
    return _Folding(calls, folds).one(tree)


def is_list_of_one(node: Folded) -> bool:
    """Whether a module only lists equal layers, so that both fit one line: `blocks.0-47`."""
    only = node.children[0] if len(node.children) == 1 and not node.entry.tensors and node.label else None
    return only is not None and only.count > 1 and not node.calls


class _Folding:
    """The calls by module, and the keys of modules that were computed."""

    def __init__(self, calls: Sequence[Call], folds: bool) -> None:
        self._calls: dict[str, list[Call]] = {}
        for call in calls:
            self._calls.setdefault(call.path, []).append(call)
        self._folds = folds
        self._keys: dict[str, Hashable] = {}

    def one(self, entry: ModuleEntry) -> Folded:
        calls = self._calls.get(entry.path, ())
        return Folded(entry, entry.name, 1, self._all(entry.children), tuple(dict.fromkeys(calls)), len(calls))

    def _all(self, entries: Sequence[ModuleEntry]) -> tuple[Folded, ...]:
        found: list[Folded] = []
        for entry in entries:
            last = found[-1] if found else None
            if last is not None and self._follows(last, entry) and self._key(last.entry) == self._key(entry):
                found[-1] = replace(last, label=f"{last.entry.name}-{entry.name}", count=last.count + 1)
            else:
                found.append(self.one(entry))
        return tuple(found)

    def _follows(self, last: Folded, entry: ModuleEntry) -> bool:
        """Whether the name of a module is the number after that of the last one."""
        first = last.entry.name
        return self._folds and first.isdecimal() and entry.name == str(int(first) + last.count)

    def _key(self, entry: ModuleEntry) -> Hashable:
        """A value that is equal for modules that are folded: content and calls, whatever they are called."""
        if entry.path not in self._keys:
            self._keys[entry.path] = self._keyed(entry, entry.path)
        return self._keys[entry.path]

    def _keyed(self, entry: ModuleEntry, base: str) -> Hashable:
        """The compared value: all that is shown of a module, with paths relative to `base`."""
        tensors = tuple(
            replace(tensor, path=_relative(tensor.path, base), tied_to=_relative(tensor.tied_to, base))
            for tensor in entry.tensors
        )
        calls = tuple(replace(call, path="") for call in self._calls.get(entry.path, ()))
        children = tuple((child.name, self._keyed(child, base)) for child in entry.children)
        return entry.kind, tensors, calls, children, _relative(entry.same_as, base)


def _relative(path: str | None, base: str) -> str:
    """A path in a module as seen from there; None becomes empty, and a path elsewhere stays as it is."""
    if path is None:
        return ""
    return f".{path.removeprefix(base)}" if path == base or path.startswith(f"{base}.") else path
