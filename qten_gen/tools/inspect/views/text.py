"""An inspection as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ....common import folded_names
from ....common.folded_names import with_segment
from ..folded_layers import Folded, fold, is_list_of_one
from ..inspection import Inspection
from ..model_tree import Amount, TensorEntry
from ..plans import Cut, Plan, Problem
from .run_text import run_lines
from .table import TIMES, Row, Style, count, memory, painted, render, sizes


def as_text(found: Inspection, *, width: int | None = None, color: bool = False, folds: bool = True) -> str:
    """The tree, the totals, and what else was asked for; `width` shortens lines, None leaves them long."""
    calls = found.run.calls if found.run else ()
    tree = fold(found.tree, calls, folds=folds)
    lines = [*render([*_tree(tree)], "llrr", width, color, ("name", "shape", "dtype", "parameters", "memory"))]
    if _has_folds(tree):
        lines += ["", "A folded line counts all of its layers; the lines below it are one of them."]
    lines += ["", *_totals(found, width, color)]
    if found.plan is not None:
        lines += ["", *plan_lines(found.plan, width, color, folds=folds)]
    if found.run is not None:
        lines += ["", *run_lines(found.run, tree, width, color)]
    return "".join(f"{line}\n" for line in lines)


def _has_folds(tree: Folded) -> bool:
    return tree.count > 1 or any(_has_folds(child) for child in tree.children)


def _tree(node: Folded, branch: str = "", stem: str = "") -> Iterator[Row]:
    """The lines of a module: itself, its tensors, its children."""
    label, note = _module_label(node)
    if is_list_of_one(node):
        node = node.children[0]
        label, note = f"{label}.{node.label}", _module_label(node)[1]
    held = (count(node.parameters), memory(node.bytes)) if node.bytes else ("", "")
    yield Row(branch, label, ("", "", *held), "strong", note)
    items: list[TensorEntry | Folded] = [*node.entry.tensors, *node.children]
    for position, item in enumerate(items):
        is_last = position == len(items) - 1
        inner, below = f"{stem}{'└─ ' if is_last else '├─ '}", f"{stem}{'   ' if is_last else '│  '}"
        if not isinstance(item, TensorEntry):
            yield from _tree(item, inner, below)
        else:
            parameters = count(item.elements) if item.kind == "parameter" and item.tied_to is None else ""
            size = memory(item.bytes) if item.tied_to is None else ""
            shape = sizes(item.shape)
            if not item.is_initialised:
                parameters = size = shape = ""
            yield Row(inner, item.name, (shape, item.dtype, parameters, size), "plain", _tensor_note(item))


def _module_label(node: Folded) -> tuple[str, str]:
    """The name of a module, and its class with how many there are of it."""
    entry = node.entry
    kind = f"{node.count} {TIMES} {entry.kind}" if node.count > 1 else entry.kind
    if entry.same_as is not None:
        kind = f"{kind} (same module as {entry.same_as or 'the model'})"
    return (node.label, kind) if node.label else (kind, "")


def _tensor_note(entry: TensorEntry) -> str:
    """The special properties of a tensor."""
    words = [] if entry.is_initialised else ["uninitialised"]
    if entry.kind == "buffer":
        words.append("buffer" if entry.persistent else "buffer, not saved")
    if entry.kind == "attribute":
        words.append("neither parameter nor buffer")
    if entry.kind == "parameter" and not entry.requires_grad:
        words.append("frozen")
    if entry.tied_to:
        words.append(f"tied to {entry.tied_to}")
    return f"({'; '.join(words)})" if words else ""


def _totals(found: Inspection, width: int | None, color: bool) -> Iterator[str]:
    """The tables of totals, and of what training needs."""
    totals = found.totals
    amounts = [
        ("parameters", totals.parameters),
        ("  trainable", totals.trainable if totals.trainable != totals.parameters else Amount()),
        ("buffers", totals.buffers),
        ("  not saved", totals.unsaved_buffers),
        ("other tensors", totals.attributes),
    ]
    held = [(name, each) for name, each in amounts if name == "parameters" or each.elements]
    others = [*totals.by_dtype.items(), *totals.by_device.items()]
    rows = [_amount(*each, "strong") for each in held] + [_amount(*each, "plain") for each in others]
    yield from render(rows, "rr", width, color, ("totals", "elements", "memory"))
    yield ""
    needs = {
        "parameters and buffers": totals.parameters.bytes + totals.buffers.bytes + totals.attributes.bytes,
        "gradients": totals.trainable.bytes,
        "states of adamw": totals.adamw,
    }
    if found.run is not None and found.run.failure is None:
        needs["activations"] = found.run.activation_bytes
    rows = [Row("", name, (memory(size),)) for name, size in needs.items()]
    yield from render(rows, "r", width, color, ("training", "memory"))


def _amount(name: str, held: Amount, style: Style) -> Row:
    return Row("", name, (count(held.elements), memory(held.bytes)), style)


def plan_lines(plan: Plan, width: int | None = None, color: bool = False, *, folds: bool = True) -> Iterator[str]:
    """A line for each tensor that is cut and one for each problem, those of equal layers as one."""
    mesh = ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items())
    rows = [
        Row("", cut.path, (", ".join(map(str, cut.shape)), ", ".join(f"{axis} {at}" for axis, at in cut.axes)))
        for cut in (
            folded_names.fold(plan.cuts, lambda cut: cut.path, _cut, lambda cut: cut[1:]) if folds else plan.cuts
        )
    ]
    yield from render(rows, "rl", width, color, (f"cut on {mesh}", "shape on a rank", "dimension"))
    yield f"{memory(plan.bytes)} on a rank; {plan.rules} rules in {plan.source}"
    for problem in _folded(plan.problems) if folds else plan.problems:
        style: Style = "bad" if problem.is_error else "plain"
        yield painted(f"{'error' if problem.is_error else 'note'}: {problem}", style, color)


def _cut(item: Cut, position: int, segment: str) -> Cut:
    """A cut under another number."""
    return item._replace(path=with_segment(item.path, position, segment))


def _folded(problems: tuple[Problem, ...]) -> list[Problem]:
    return folded_names.fold(problems, lambda item: item.name, _problem, lambda item: item[1:], whole_layers=False)


def _problem(item: Problem, position: int, segment: str) -> Problem:
    """A problem under another number; a name in its text with the same numbers goes with it."""
    name = with_segment(item.name, position, segment)
    old, new = (".".join(each.split(".")[: position + 1]) for each in (item.name, name))
    return item._replace(name=name, text=item.text.replace(f"{old}.", f"{new}."))
