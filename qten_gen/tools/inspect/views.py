"""The contents of a model as a table for terminals, and as a JSON document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import NamedTuple

from ...common.state_differences import fold, with_number, with_segment
from ...report.concise import BOLD, painted, visible
from .model_tree import Amount, Entry, ModuleEntry, TensorEntry, Totals, tensors_of, totals_of

TIMES = "\u00d7"
"""The sign of multiplication."""

VERSION = 3
"""Version of the JSON document. It is raised when a key is removed or changes its meaning, but not for a new key."""


def as_json(target: str, entries: Sequence[Entry]) -> str:
    """The records of a model under the names of their fields, which docs/adopting.md describes; nothing is folded."""
    document = {
        "version": VERSION,
        "target": target,
        "modules": [asdict(entry) for entry in entries if isinstance(entry, ModuleEntry)],
        "tensors": [asdict(entry) for entry in tensors_of(entries)],
        "totals": asdict(totals_of(entries)),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_text(entries: Sequence[Entry], *, width: int | None = None, color: bool = False, folds: bool = True) -> str:
    """The tree and the totals; `width` shortens names so that lines fit a terminal."""
    shown = fold(entries, lambda entry: entry.path, _renumbered, lambda entry: replace(entry, path=""))
    root, *others = shown if folds else entries
    below: dict[str, list[Entry]] = {}
    for entry in others:
        below.setdefault(entry.path.rpartition(".")[0], []).append(entry)
    lines = [*_render([*_tree(root, below)], "llrr", width, color, ("name", "shape", "dtype", "parameters", "memory"))]
    if folds and len(shown) < len(entries):
        lines += ["", "A folded line counts all of its layers; the lines below it are one of them."]
    return "".join(f"{line}\n" for line in [*lines, "", *_totals(totals_of(entries), width, color)])


def _renumbered(entry: Entry, position: int, segment: str) -> Entry:
    """An entry under another number; the path that it is tied to or the same as goes with it."""
    number = entry.path.split(".")[position]
    path = with_segment(entry.path, position, segment)
    if isinstance(entry, TensorEntry):
        tie = None if entry.tied_to is None else with_number(entry.tied_to, position, number, segment)
        return replace(entry, path=path, tied_to=tie)
    same_as = None if entry.same_as is None else with_number(entry.same_as, position, number, segment)
    return replace(entry, path=path, same_as=same_as)


class _Row(NamedTuple):
    """A line of a table."""

    branch: str
    """The lines of the tree before the label: `│  ├─ `."""
    label: str
    cells: tuple[str, ...]
    """The texts of the other columns."""
    is_strong: bool = False
    note: str = ""
    """The text after the label, in parentheses or not."""

    @property
    def head(self) -> str:
        """The text of the first column."""
        return visible(f"{self.branch}{self.label}{_GAP if self.note else ''}{self.note}")


_GAP = "  "
_RANGE = re.compile(r"\{(\d+)-(\d+)\}")


def _tree(entry: Entry, below: Mapping[str, Sequence[Entry]], branch: str = "", stem: str = "") -> Iterator[_Row]:
    """The lines of a module: itself, its tensors, its children."""
    label, count = _label(entry)
    items = below.get(entry.path, ())
    if label and len(items) == 1 and isinstance(items[0], ModuleEntry) and _label(items[0])[1] > 1:
        # A list of equal layers and the layers fit one line: `blocks.0-47`.
        entry, inner = items[0], _label(items[0])
        items = below.get(entry.path, ())
        label, count = f"{label}.{inner[0]}", inner[1]
    memory = _memory(entry.bytes * count) if entry.bytes else ""
    if isinstance(entry, TensorEntry):
        figures = ("", "", "")
        if entry.is_initialised:
            counted = f"{entry.elements * count:,}" if entry.kind == "parameter" and entry.tied_to is None else ""
            figures = str(list(entry.shape)), counted, memory
        yield _Row(branch, label, (figures[0], entry.dtype, *figures[1:]), note=_tensor_note(entry, count))
    else:
        kind = f"{count} {TIMES} {entry.kind}" if count > 1 else entry.kind
        if entry.same_as is not None:
            kind = f"{kind} (same module as {entry.same_as or 'the model'})"
        held = f"{entry.parameters * count:,}" if memory else ""
        yield _Row(branch, label or kind, ("", "", held, memory), True, kind if label else "")
    for item in items:
        is_last = item is items[-1]
        inner_branch, inner_stem = f"{stem}{'└─ ' if is_last else '├─ '}", f"{stem}{'   ' if is_last else '│  '}"
        yield from _tree(item, below, inner_branch, inner_stem)


def _label(entry: Entry) -> tuple[str, int]:
    """The name of an entry in its module, and how many equal ones it stands for: `0-47`, 48."""
    name = entry.path.rpartition(".")[2]
    found = _RANGE.fullmatch(name)
    return (name, 1) if found is None else (name[1:-1], int(found[2]) - int(found[1]) + 1)


def _tensor_note(entry: TensorEntry, count: int) -> str:
    """The special properties of a tensor."""
    words = [f"{count} equal"] if count > 1 else []
    words += [] if entry.is_initialised else ["uninitialised"]
    if entry.kind == "buffer":
        words.append("buffer" if entry.persistent else "buffer, not saved")
    if entry.kind == "attribute":
        words.append("neither parameter nor buffer")
    if entry.kind == "parameter" and not entry.requires_grad:
        words.append("frozen")
    if entry.tied_to:
        words.append(f"tied to {entry.tied_to}")
    return f"({'; '.join(words)})" if words else ""


def _totals(totals: Totals, width: int | None, color: bool) -> Iterator[str]:
    """The tables of totals, and of what training needs."""
    amounts = {
        "parameters": totals.parameters,
        "  trainable": totals.trainable if totals.trainable != totals.parameters else Amount(),
        "buffers": totals.buffers,
        "  not saved": totals.unsaved_buffers,
        "other tensors": totals.attributes,
    }
    held = {name: each for name, each in amounts.items() if name == "parameters" or each.elements}
    rows = [
        _Row("", name, (f"{each.elements:,}", _memory(each.bytes)), name in held)
        for name, each in [*held.items(), *totals.by_dtype.items(), *totals.by_device.items()]
    ]
    yield from _render(rows, "rr", width, color, ("totals", "elements", "memory"))
    yield ""
    needs = {
        "parameters and buffers": totals.parameters.bytes + totals.buffers.bytes + totals.attributes.bytes,
        "gradients": totals.trainable.bytes,
        "states of adamw": totals.adamw,
    }
    rows = [_Row("", name, (_memory(size),)) for name, size in needs.items()]
    yield from _render(rows, "r", width, color, ("training", "memory"))


def _memory(size: int) -> str:
    """`512 B`, `1.5 KiB`, `48.0 GiB`."""
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:,.1f} PiB"


_LEAST = 16
"""The width that the names keep in the narrowest terminal."""


def _render(
    rows: Sequence[_Row], aligned: str, width: int | None, color: bool, heading: Sequence[str]
) -> Iterator[str]:
    """The lines of a table without line ends.

    Args:
        rows: What it shows.
        aligned: A letter for each column after the first: `l` or `r`.
        width: The width of the terminal, for which names are shortened; None for no limit.
        color: Use bold text for modules and their totals.
        heading: The names of the columns.
    """
    everything = [_Row("", heading[0], tuple(heading[1:])), *rows]
    widths = [max(len(row.cells[i]) for row in everything) for i in range(len(aligned))]
    first = max(len(row.head) for row in everything)
    if width is not None:
        first = min(first, max(_LEAST, width - sum(widths) - len(_GAP) * len(widths)))
    for row in everything:
        head = row.head if len(row.head) <= first else f"{row.head[: first - 1]}…"
        start = len(row.branch)
        text = f"{head[:start]}{painted(head[start:], BOLD, color and row.is_strong)}{' ' * (first - len(head))}"
        for cell, its, side in zip(row.cells, widths, aligned, strict=True):
            text += _GAP + (cell.rjust(its) if side == "r" else cell.ljust(its))
        yield text.rstrip()
