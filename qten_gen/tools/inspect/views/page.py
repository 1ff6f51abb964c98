"""An inspection as one page of HTML: a foldable tree and a treemap of memory. It loads nothing, and runs without a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from ....runtime.module.outline.entries import TensorEntry
from ....runtime.module.outline.labels import module_label, tensor_note, tensor_sizes
from ....runtime.showing.numbers import TIMES, count, memory
from ..folding import Folded, fold
from ..inspection import Inspection
from ..runs import Call, Run
from .numbers import inputs_text, operations, shape_text
from .run_text import findings_lines
from .treemap import Area, Cell, layout

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def as_html(found: Inspection) -> str:
    """The page. Equal layers are folded, as in the text."""
    tree = fold(found.tree, found.run.calls if found.run else ())
    ids = _Ids()
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(found.target)}</title>",
        f"<style>\n{_asset('page.css')}</style>",
        "</head>",
        "<body>",
        *_heading(found),
        *_summary(found),
        *_map(tree, ids),
        *_tree_section(tree, ids),
        *_run_section(found.run),
        f"<script>\n{_asset('page.js')}</script>",
        "</body>",
        "</html>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class _Ids:
    """The ids of the lines of the tree, which the map refers to."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def of(self, path: str) -> str:
        return self._found.setdefault(path, f"i{len(self._found)}")


def _heading(found: Inspection) -> Iterator[str]:
    held = found.totals.parameters
    yield f"<h1>{escape(found.tree.kind)}</h1>"
    yield (
        f'<p class="faint"><code>{escape(found.target)}</code>: {count(held.elements)} parameters, '
        f"{memory(found.tree.bytes)}</p>"
    )


def _summary(found: Inspection) -> Iterator[str]:
    """The tables of totals, of memory for training, and of ranks."""
    totals, needs = found.totals, found.memory
    rows = [("parameters", totals.parameters), ("trainable", totals.trainable), ("buffers", totals.buffers)]
    rows += [(name, held) for name, held in (*totals.by_dtype, *totals.by_device)]
    yield '<div class="columns">'
    yield from _table(
        ("totals", "elements", "memory"), [(name, count(held.elements), memory(held.bytes)) for name, held in rows]
    )
    training = [("parameters and buffers", needs.parameters + needs.buffers), ("gradients", needs.gradients)]
    training += [(f"states of {name}", size) for name, size in needs.optimizers]
    if needs.activations is not None:
        training.append(("activations", needs.activations))
    yield from _table(("training", "memory"), [(name, memory(size)) for name, size in training])
    if found.sharding is not None:
        shares = [
            (
                str(share.first) if share.first == share.last else f"{share.first}-{share.last}",
                count(share.parameters),
                memory(share.bytes),
                memory(share.padding_bytes),
                memory(share.buffer_bytes),
            )
            for share in found.sharding.shares
        ]
        head = (f"rank of {found.sharding.ranks}", "parameters", "memory", "padding", "buffers")
        yield from _table(head, shares)
    yield "</div>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield '<div class="wide"><table>'
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    yield f"<tr>{cells}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield "</table></div>"


def _map(tree: Folded, ids: _Ids) -> Iterator[str]:
    area = _area(tree, ids, 1)
    if area.weight <= 0:
        return
    yield "<h2>Memory</h2>"
    yield '<p class="faint">Choose a rectangle to find it in the tree below. Arrow keys move between rectangles.</p>'
    yield '<div class="map" role="group" aria-label="Treemap of memory">'
    for position, cell in enumerate(layout(area)):
        yield from _cells(cell, position * 47 % 360, splits=True, is_first=position == 0)
    yield "</div>"


def _area(node: Folded, ids: _Ids, times: int) -> Area:
    """The area of a module: one for all layers that are folded."""
    entry = node.entry
    parts = [
        Area(
            ids.of(held.path),
            held.name,
            f"{held.path} {tensor_sizes(held)}, {_times(times * node.count, held.bytes)}",
            size,
        )
        for held in entry.tensors
        if (size := held.bytes * node.count * times)
    ]
    children = [_area(child, ids, times * node.count) for child in node.children]
    label, kind = module_label(node)
    title = f"{entry.path or label} {kind}, {_times(times, node.bytes)}"
    key = ids.of(entry.path or ".")
    return Area(key, label, title, node.bytes * times, (*parts, *children))


def _times(times: int, size: int) -> str:
    return memory(size) if times == 1 else f"{times} {TIMES} {memory(size)}"


def _cells(cell: Cell, hue: int, *, splits: bool, is_first: bool = False) -> Iterator[str]:
    """A rectangle and those in it, which have a colour each where it is the first that is divided among several."""
    place = f"left:{cell.left:.3f}%;top:{cell.top:.3f}%;width:{cell.width:.3f}%;height:{cell.height:.3f}%"
    area = cell.area
    yield (
        f'<div class="cell" role="button" tabindex="{0 if is_first else -1}" data-item="{area.key}" '
        f'style="{place};--hue:{hue}" title="{escape(area.title)}" aria-label="{escape(area.title)}">'
        f"<span>{escape(area.label)}</span>"
    )
    if cell.parts:
        yield '<div class="inner">'
        is_split = splits and len(cell.parts) > 1
        for position, part in enumerate(cell.parts):
            yield from _cells(part, (hue + position * 67) % 360 if is_split else hue, splits=splits and not is_split)
        yield "</div>"
    yield "</div>"


def _tree_section(tree: Folded, ids: _Ids) -> Iterator[str]:
    yield "<h2 id='tree'>Modules</h2>"
    yield '<p class="faint">Arrow keys move and fold. A folded line counts all of its layers; below it is one of them. '
    yield '<button type="button" data-fold="false" hidden>unfold all</button> '
    yield '<button type="button" data-fold="true" hidden>fold all</button></p>'
    yield '<ul class="tree" role="tree" aria-labelledby="tree">'
    yield from _item(tree, ids, 1)
    yield "</ul>"


def _item(node: Folded, ids: _Ids, level: int) -> Iterator[str]:
    """A module with what is in it."""
    label, kind = module_label(node)
    has_parts = bool(node.entry.tensors or node.children)
    expanded = ' aria-expanded="true"' if has_parts else ""
    tabindex = 0 if level == 1 else -1
    yield f'<li role="treeitem" id="{ids.of(node.entry.path or ".")}" aria-level="{level}"{expanded} tabindex="{tabindex}">'
    yield from _row(
        f'<span class="module">{escape(label)}</span>', kind, "", "", count(node.parameters), memory(node.bytes)
    )
    for call in node.calls[:3]:
        yield f'<div class="calls">{escape(_call_text(call))}</div>'
    if has_parts:
        yield '<ul role="group">'
        for held in node.entry.tensors:
            yield from _tensor_item(held, ids, level + 1)
        for child in node.children:
            yield from _item(child, ids, level + 1)
        yield "</ul>"
    yield "</li>"


def _tensor_item(held: TensorEntry, ids: _Ids, level: int) -> Iterator[str]:
    yield f'<li role="treeitem" id="{ids.of(held.path)}" aria-level="{level}" tabindex="-1">'
    parameters = count(held.elements) if held.kind == "parameter" and held.tied_to is None else ""
    size = memory(held.bytes) if held.bytes or not (held.tied_to or held.shares_with) else ""
    yield from _row(escape(held.name), tensor_note(held), tensor_sizes(held), held.dtype, parameters, size)
    yield "</li>"


def _row(label: str, note: str, shape: str, dtype: str, parameters: str, size: str) -> Iterator[str]:
    """A line; `label` is HTML, the others are text."""
    yield (
        f'<div class="row"><span class="label">{label} <span class="faint">{escape(note)}</span></span>'
        f'<span class="shape">{escape(shape)}</span><span class="dtype faint">{escape(dtype)}</span>'
        f'<span class="figure">{parameters}</span><span class="figure">{size}</span></div>'
    )


def _call_text(call: Call) -> str:
    flops = f", {operations(call.flops)} FLOP" if call.flops else ""
    return f"{inputs_text(call.inputs)} → {shape_text(call.output)}{flops}"


def _run_section(run: Run | None) -> Iterator[str]:
    """The section of a page about a run: its totals and its findings."""
    if run is None:
        return
    yield "<h2>Run</h2>"
    rows = [("FLOP of forward", count(run.forward_flops))]
    if run.backward_flops is not None:
        rows.append(("FLOP of backward", count(run.backward_flops)))
    rows.append(("kept for backward", memory(run.activation_bytes)))
    yield from _table(("run in training mode" if run.training else "run in evaluation mode", ""), rows)
    is_bad = bool(run.findings or run.failure)
    yield f'<pre class="{"bad" if is_bad else "good"}">{escape(chr(10).join(findings_lines(run, color=False)))}</pre>'
