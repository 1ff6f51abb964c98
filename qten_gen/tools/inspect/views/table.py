"""Tables for terminals: a tree in the first column, figures beside it; how numbers and memory are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ....report import concise

TIMES = "\u00d7"
"""The sign of multiplication."""


def count(number: int) -> str:
    """`1,234,567`."""
    return f"{number:,}"


def memory(size: int) -> str:
    """`512 B`, `1.5 KiB`, `48.0 GiB`."""
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:,.1f} PiB"


def of_noun(number: int, noun: str) -> str:
    """`1 layer`, `2 layers`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sizes(shape: Sequence[object]) -> str:
    """`[4, 128]`."""
    return f"[{', '.join(map(str, shape))}]"


def operations(number: int) -> str:
    """`912`, `91.2 M`, `1.2 T`."""
    value = float(number)
    if value < 1000:
        return str(number)
    for unit in ("k", "M", "G", "T", "P"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:,.1f} E"


Style = Literal["plain", "strong", "faint", "bad", "good"]

_CODES: dict[Style, str] = {"plain": "", "strong": "1", "faint": "2", "bad": "1;31", "good": "32"}
_GAP = "  "


def painted(text: str, style: Style, color: bool) -> str:
    """The text in a style, if colours are used."""
    return concise.painted(text, _CODES[style], color and bool(text and _CODES[style]))


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table."""

    branch: str
    """The lines of the tree before the label: `│  ├─ `."""
    label: str
    cells: tuple[str, ...]
    """The texts of the other columns."""
    style: Style = "plain"
    note: str = ""
    """The text after the label, in parentheses or not."""

    @property
    def head(self) -> str:
        """The text of the first column."""
        return f"{self.branch}{self.label}{_GAP if self.note else ''}{self.note}"

    def __post_init__(self) -> None:
        for name in ("label", "note"):
            object.__setattr__(self, name, concise.visible(getattr(self, name)))


def render(
    rows: Sequence[Row], aligned: str, width: int | None, color: bool, heading: Sequence[str] = ()
) -> Iterator[str]:
    """The lines of a table without line ends.

    Args:
        rows: What it shows.
        aligned: A letter for each column after the first: `l` or `r`.
        width: The width of the terminal, which longer texts are shortened for; None for no limit.
        color: Whether to use colours.
        heading: The names of the columns.
    """
    title = [Row("", heading[0], tuple(heading[1:]), "faint")] if heading else []
    everything = [*title, *rows]
    first, *widths = _widths(everything, aligned, width)
    for row in everything:
        cells = [
            cell.rjust(its) if side == "r" else shortened(cell, its).ljust(its)
            for cell, its, side in zip(row.cells, widths, aligned, strict=True)
        ]
        yield (_head(row, first, color) + "".join(f"{_GAP}{cell}" for cell in cells)).rstrip()


_LEAST, _LEAST_HEAD = 8, 16
"""The width that columns of text, and the first column, keep in the narrowest terminal."""


def _widths(rows: Sequence[Row], aligned: str, width: int | None) -> list[int]:
    """The widths of the columns. Where they do not fit, the widest column of text becomes narrower, and figures stay whole."""
    heads = max((len(row.head) for row in rows), default=0)
    found = [heads, *(max((len(row.cells[i]) for row in rows), default=0) for i in range(len(aligned)))]
    least = [_LEAST_HEAD, *(_LEAST if side == "l" else its for side, its in zip(aligned, found[1:], strict=True))]
    while width is not None and sum(found) + len(_GAP) * len(aligned) > width:
        spare = [(its, i) for i, its in enumerate(found) if its > least[i]]
        if not spare:
            break
        found[max(spare)[1]] -= 1
    return found


def _head(row: Row, width: int, color: bool) -> str:
    """The first column, filled up to its width or shortened to it."""
    text = shortened(row.head, width)
    padding = " " * (width - len(text))
    if not color or text != row.head:
        return text + padding
    note = f"{_GAP}{painted(row.note, 'faint', color)}" if row.note else ""
    return f"{painted(row.branch, 'faint', color)}{painted(row.label, row.style, color)}{note}{padding}"


def shortened(text: str, width: int) -> str:
    """The text, cut off with an ellipsis if it is longer than `width`."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"
