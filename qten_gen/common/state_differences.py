"""How the parameters and buffers of a model differ from others of its names, and equal layers as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final, Literal, NamedTuple, Protocol, TypeVar

T = TypeVar("T")


def fold(
    items: Iterable[T],
    name: Callable[[T], str],
    rename: Callable[[T, int, str], T],
    key: Callable[[T], object],
    *,
    whole_layers: bool = True,
) -> list[T]:
    """The items with equal layers as one, whose names differ in a number; for each place of a number, the last first.

    With `whole_layers`, layers are equal if all their items are, so that the lines of a layer stay together.

    Args:
        items: What to fold.
        name: The name of an item.
        rename: An item with another segment at a position of its name, and wherever else it has the same number.
        key: What has to be equal beside the names.
        whole_layers: True if all items of layers have to be equal.
    """
    found = list(items)
    deepest = max((name(item).count(".") for item in found), default=0)
    for position in range(deepest, -1, -1):
        found = _at(found, position, name, rename, key, whole_layers)
    return found


def _at(
    items: list[T],
    position: int,
    name: Callable[[T], str],
    rename: Callable[[T, int, str], T],
    key: Callable[[T], object],
    whole_layers: bool,
) -> list[T]:
    """Fold the numbers at one position of the names."""
    layers: dict[tuple[str, ...], list[object]] = {}
    patterns: list[tuple[object, tuple[str, ...]] | None] = []
    for item in items:
        layer = tuple(name(item).split(".")[: position + 1])
        if len(layer) == position + 1 and layer[position].isdecimal():
            pattern = rename(item, position, "{}")
            content = name(pattern), key(pattern)
            layers.setdefault(layer, []).append(content)
            patterns.append((content, layer))
        else:
            patterns.append(None)
    numbers: dict[object, int] = {}
    equal = {layer: numbers.setdefault(tuple(contents), len(numbers)) for layer, contents in layers.items()}
    groups: dict[object, list[tuple[int, T]]] = {}
    for index, (item, found_pattern) in enumerate(zip(items, patterns, strict=True)):
        if found_pattern is None:
            groups[index] = [(-1, item)]
        else:
            own, layer = found_pattern
            groups.setdefault((own, whole_layers and equal[layer]), []).append((int(layer[position]), item))
    order = {id(item): index for index, item in enumerate(items)}
    found = [each for group in groups.values() for each in _runs(group, position, rename)]
    return [item for _, item in sorted(((order[id(first)], item) for first, item in found), key=lambda each: each[0])]


def _runs(group: list[tuple[int, T]], position: int, rename: Callable[[T, int, str], T]) -> Iterator[tuple[T, T]]:
    """The first of each run of consecutive numbers, with what the run is folded to."""
    numbered = sorted(group, key=lambda each: each[0])
    for _, run in groupby(enumerate(numbered), key=lambda each: each[1][0] - each[0]):
        members = [member for _, member in run]
        (start, first), (stop, _) = members[0], members[-1]
        yield first, rename(first, position, f"{{{start}-{stop}}}") if stop > start else first


def with_segment(name: str, position: int, segment: str) -> str:
    """A name with another segment at a position."""
    segments = name.split(".")
    return ".".join([*segments[:position], segment, *segments[position + 1 :]])


def with_number(name: str, position: int, number: str, segment: str) -> str:
    """A name with another segment in place of a number at a position; a name without this number there as it is."""
    return with_segment(name, position, segment) if name.split(".")[position : position + 1] == [number] else name


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


SAFETENSORS_DTYPES: Final[dict[str, str]] = dict(
    zip(
        "BOOL U8 I8 U16 I16 F16 BF16 U32 I32 F32 U64 I64 F64 C64 F8_E4M3 F8_E5M2 F8_E8M0".split(),
        "bool uint8 int8 uint16 int16 float16 bfloat16 uint32 int32 float32 uint64 int64 float64 complex64 "
        "float8_e4m3fn float8_e5m2 float8_e8m0fnu".split(),
        strict=True,
    )
)
"""The dtypes of safetensors under the names of torch."""


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
