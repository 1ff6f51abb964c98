"""Tables for terminals: a tree in the first column, figures beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "strong", "faint", "bad", "good"]

_CODES: dict[Style, str] = {"plain": "", "strong": "1", "faint": "2", "bad": "1;31", "good": "32"}
_GAP = "  "


def painted(text: str, style: Style, color: bool) -> str:
    """The text in a style, if colours are used."""
    code = _CODES[style]
    return f"\033[{code}m{text}\033[0m" if color and code and text else text


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table."""

    branch: str
    """The lines of the tree before the label: `│  ├─ `."""
    label: str
    cells: tuple[str, ...]
    """What stands in the other columns."""
    style: Style = "plain"
    note: str = ""
    """What stands after the label, in parentheses or not."""

    @property
    def head(self) -> str:
        """The text of the first column."""
        return f"{self.branch}{self.label}{_GAP if self.note else ''}{self.note}"


def render(
    rows: Sequence[Row], aligned: str, width: int | None, color: bool, heading: Sequence[str] = ()
) -> Iterator[str]:
    """The lines of a table without line ends.

    Args:
        rows: What it shows.
        aligned: A letter for each column after the first: `l` or `r`.
        width: The width of the terminal; a longer first column is shortened, then the last. None for no limit.
        color: Whether to use colours.
        heading: The names of the columns.
    """
    title = [Row("", heading[0], tuple(heading[1:]), "faint")] if heading else []
    everything = [*title, *rows]
    widths = [max((len(row.cells[i]) for row in everything), default=0) for i in range(len(aligned))]
    first = max((len(row.head) for row in everything), default=0)
    if width is not None:
        first = max(min(first, width - sum(widths) - len(_GAP) * len(widths)), 16)
        if aligned.endswith("l") and widths:
            rest = width - first - sum(widths[:-1]) - len(_GAP) * len(widths)
            widths[-1] = max(min(widths[-1], rest), 8)
    for row in everything:
        cells = [
            cell.rjust(its) if side == "r" else shortened(cell, its).ljust(its)
            for cell, its, side in zip(row.cells, widths, aligned, strict=True)
        ]
        yield (_head(row, first, color) + "".join(f"{_GAP}{cell}" for cell in cells)).rstrip()


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
