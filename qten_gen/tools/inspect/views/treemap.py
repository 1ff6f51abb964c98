"""Lays out a treemap: rectangles whose areas are in proportion to memory, nested like the modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Rectangle = tuple[float, float, float, float]
"""Left, top, width and height."""


@dataclass(frozen=True, slots=True)
class Area:
    """What gets a rectangle."""

    key: str
    """What it stands for, the id of a line of the tree."""
    label: str
    title: str
    """What it is in full."""
    weight: float
    parts: tuple[Area, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A rectangle in the one that it lies in, in percent of that."""

    area: Area
    left: float
    top: float
    width: float
    height: float
    parts: tuple[Cell, ...]


SMALLEST = 26.0
"""The width and height, in units of the whole, below which a rectangle is not divided further."""

HEAD = 18.0
"""The height of the label of a rectangle that is divided, in the same units."""


def layout(area: Area, width: float = 1000.0, height: float = 560.0) -> tuple[Cell, ...]:
    """The rectangles of the parts of an area, of `width` times `height` units."""
    parts = sorted((part for part in area.parts if part.weight > 0), key=lambda part: -part.weight)
    placed = squarified([part.weight for part in parts], (0.0, 0.0, width, height))
    return tuple(_cell(part, place, width, height) for part, place in zip(parts, placed, strict=True))


def _cell(area: Area, place: Rectangle, width: float, height: float) -> Cell:
    left, top, its_width, its_height = place
    inner: tuple[Cell, ...] = ()
    if area.parts and its_width >= 2 * SMALLEST and its_height - HEAD >= SMALLEST:
        inner = layout(area, its_width, its_height - HEAD)
    percent = (100 * left / width, 100 * top / height, 100 * its_width / width, 100 * its_height / height)
    return Cell(area, *percent, inner)


def squarified(weights: Sequence[float], place: Rectangle) -> list[Rectangle]:
    """Rectangles for weights in falling order that fill `place`, each as close to a square as its row allows.

    >>> squarified([3.0, 1.0], (0.0, 0.0, 4.0, 1.0))
    [(0.0, 0.0, 3.0, 1.0), (3.0, 0.0, 1.0, 1.0)]
    """
    found: list[Rectangle] = []
    left, top, width, height = place
    total = sum(weights)
    rest = list(weights)
    while rest:
        scale = width * height / total if total else 0.0
        row = _row([weight * scale for weight in rest], min(width, height))
        size = sum(rest[: len(row)]) * scale
        if width >= height:
            across = size / height if height else 0.0
            at = top
            for part in row:
                length = part / across if across else 0.0
                found.append((left, at, across, length))
                at += length
            left, width = left + across, width - across
        else:
            across = size / width if width else 0.0
            at = left
            for part in row:
                length = part / across if across else 0.0
                found.append((at, top, length, across))
                at += length
            top, height = top + across, height - across
        total -= sum(rest[: len(row)])
        rest = rest[len(row) :]
    return found


def _row(sizes: Sequence[float], side: float) -> list[float]:
    """The first of some areas, as many as make the worst of them the closest to a square along `side`."""
    row = [sizes[0]]
    for size in sizes[1:]:
        if _worst([*row, size], side) > _worst(row, side):
            break
        row.append(size)
    return row


def _worst(row: Sequence[float], side: float) -> float:
    """The largest ratio of length to width in a row."""
    total = sum(row)
    if not total or not side or not min(row):
        return float("inf")
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * min(row)))
