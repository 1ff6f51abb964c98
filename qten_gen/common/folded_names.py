"""Folds equal layers: `blocks.0.norm.weight` to `blocks.47.norm.weight` are one, `blocks.{0-47}.norm.weight`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

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
        whole_layers: Whether all items of layers have to be equal.
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
