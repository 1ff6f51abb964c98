"""Lines, tables and lists that fold, as a piece of HTML for the output of a notebook's cell.

It needs no script, and can be read where a notebook removes its style: tables stay tables, and `<details>` folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Final

_OPEN: Final = 25
"""Lines of a list that are shown at once; the others are folded."""

_MOST: Final = 250
"""Lines of a fragment; of what is left, it says how much."""

_STYLE: Final = (
    ".qten-gen{overflow-x:auto;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em;line-height:1.45}"
    ".qten-gen table,.qten-gen tr,.qten-gen td,.qten-gen th{background:none!important;color:inherit;border:0;float:none}"
    ".qten-gen table{border-collapse:collapse;margin:0 0 .2em;font-size:inherit;width:auto;display:table}"
    ".qten-gen td,.qten-gen th{padding:.05em 1.4em .05em 0;text-align:left!important;vertical-align:top;white-space:nowrap;"
    "font-weight:inherit;border-bottom:1px solid rgba(128,128,128,.3)}"
    ".qten-gen .qg-n{text-align:right!important;font-variant-numeric:tabular-nums}"
    ".qten-gen .qg-faint{opacity:.7}"
    ".qten-gen summary{cursor:pointer}"
    ".qten-gen details>:not(summary),.qten-gen .qg-in{margin-left:1.2em}"
    ".qten-gen .qg-leaf{padding-left:1.1em}"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table, as text: its name, a note beside it, and the other cells."""

    name: str
    note: str
    cells: tuple[str, ...]
    """As many as there are columns, or one for all of them."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A line that unfolds."""

    name: str
    note: str
    parts: Callable[[Room], Iterator[str]]
    """Its HTML. It is asked for only if there is room."""
    is_open: bool = False


@dataclass(slots=True)
class Room:
    """How many lines a fragment may still have."""

    left: int = _MOST

    def take(self) -> bool:
        """Whether there is room for a line, which is then taken."""
        self.left -= 1
        return self.left >= 0


def fragment(parts: Callable[[Room], Iterator[str]]) -> str:
    """The parts as HTML with its style, which holds for this class of elements only."""
    return f'<div class="qten-gen"><style>{_STYLE}</style>{"".join(parts(Room()))}</div>'


def heading(kind: str, facts: Sequence[str]) -> str:
    """The kind of the object, and facts about the whole of it."""
    return f'<div><b>{escape(kind)}</b> <span class="qg-faint">{escape(", ".join(facts))}</span></div>'


def table(columns: Sequence[str], rows: Iterable[Row | Folded], count: int, room: Room) -> Iterator[str]:
    """Rows under headings: the first ones at once, the others folded, and of those without room how many they are.

    Args:
        rows: As many as `count` says. Those without room are not asked for.
    """
    yield from _bounded(rows, count, room, lambda some: _table(columns, some, room))


def lines(found: Iterable[Row | Folded], count: int, room: Room) -> Iterator[str]:
    """One below the other, what can be unfolded and what cannot; bounded as a table is."""
    yield from _bounded(found, count, room, lambda some: _lines(some, room))


def _lines(found: Iterator[Row | Folded], room: Room) -> Iterator[str]:
    for one in found:
        if isinstance(one, Folded):
            yield from unfolding(one, room)
        else:
            yield f'<div class="qg-leaf">{_label(one.name, one.note)}</div>'


def unfolding(one: Folded, room: Room) -> Iterator[str]:
    """A line that shows what is below it when it is chosen."""
    yield f"<details{' open' if one.is_open else ''}><summary>{_label(one.name, one.note)}</summary><div>"
    yield from one.parts(room)
    yield "</div></details>"


def _bounded(
    rows: Iterable[Row | Folded],
    count: int,
    room: Room,
    show: Callable[[Iterator[Row | Folded]], Iterator[str]],
) -> Iterator[str]:
    """The first rows, then a fold with the others, for as many as there is room for; then how many are left."""
    shown = 0

    def admitted(some: Iterator[Row | Folded]) -> Iterator[Row | Folded]:
        nonlocal shown
        for one in some:
            if not room.take():
                return
            shown += 1
            yield one

    ahead = iter(rows)
    yield from show(admitted(islice(ahead, _OPEN)))
    if count > _OPEN and room.left > 0:
        yield f"<details><summary>{count - _OPEN:,} more</summary><div>"
        yield from show(admitted(ahead))
        yield "</div></details>"
    if shown < count:
        yield f'<div class="qg-faint">{count - shown:,} more are not shown</div>'


def _table(columns: Sequence[str], rows: Iterator[Row | Folded], room: Room) -> Iterator[str]:
    """A table with a heading; what folds takes a whole line of it."""
    yield "<table><thead><tr>"
    yield from (f'<th scope="col"{_figure(name)}><span class="qg-faint">{escape(name)}</span></th>' for name in columns)
    yield "</tr></thead><tbody>"
    for row in rows:
        if isinstance(row, Folded):
            yield f'<tr><td colspan="{len(columns)}">'
            yield from unfolding(row, room)
            yield "</td></tr>"
        else:
            yield f'<tr><th scope="row">{_label(row.name, row.note)}</th>{_cells(row.cells, columns[1:])}</tr>'
    yield "</tbody></table>"


def _cells(cells: tuple[str, ...], columns: Sequence[str]) -> str:
    if len(cells) == 1:
        return f'<td colspan="{len(columns)}">{escape(cells[0])}</td>'
    return "".join(f"<td{_figure(name)}>{escape(cell)}</td>" for name, cell in zip(columns, cells, strict=True))


def _figure(column: str) -> str:
    """Figures stand at the right, so that they can be compared."""
    return ' class="qg-n"' if column in ("memory", "parameters") else ""


def _label(name: str, note: str) -> str:
    beside = f' <span class="qg-faint">{escape(note)}</span>' if note else ""
    return f"{escape(name)}{beside}"
