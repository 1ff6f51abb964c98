"""An inspection as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ....common import folded_names
from ....common.folded_names import with_segment
from ..folding import Folded, fold, is_list_of_one
from ..inspection import Inspection
from ..model_tree import TensorEntry
from ..plans import Cut, Plan, Problem
from ..totals import Sharding
from .numbers import TIMES, count, memory, sizes
from .run_text import run_lines
from .table import Row, Style, painted, render


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
    if found.sharding is not None:
        lines += ["", *_ranks(found.sharding, width, color)]
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
            size = memory(item.bytes) if item.bytes or not (item.tied_to or item.shares_with) else ""
            if not item.is_initialised:
                parameters = size = ""
            yield Row(
                inner, item.name, (_tensor_sizes(item), item.dtype, parameters, size), "plain", _tensor_note(item)
            )


def _module_label(node: Folded) -> tuple[str, str]:
    """The name of a module, and its class with how many there are of it."""
    entry = node.entry
    kind = f"{node.count} {TIMES} {entry.kind}" if node.count > 1 else entry.kind
    if entry.same_as is not None:
        kind = f"{kind} (same module as {entry.same_as or 'the model'})"
    return (node.label, kind) if node.label else (kind, "")


def _tensor_note(entry: TensorEntry) -> str:
    """What is special about a tensor."""
    words = [] if entry.is_initialised else ["uninitialised"]
    if entry.kind == "buffer":
        words.append("buffer" if entry.persistent else "buffer, not saved")
    if entry.kind == "attribute":
        words.append("neither parameter nor buffer")
    if entry.kind == "parameter" and not entry.requires_grad:
        words.append("frozen")
    if entry.tied_to:
        words.append(f"tied to {entry.tied_to}")
    if entry.shares_with:
        words.append(f"memory of {entry.shares_with}")
    return f"({'; '.join(words)})" if words else ""


def _tensor_sizes(entry: TensorEntry) -> str:
    """`[4, 128]`; empty for a tensor that has no shape yet."""
    return sizes(entry.shape) if entry.is_initialised else ""


def _totals(found: Inspection, width: int | None, color: bool) -> Iterator[str]:
    """The table of totals: kinds of tensors, then dtypes and devices."""
    totals, needs = found.totals, found.memory
    rows = [Row("", "parameters", (count(totals.parameters.elements), memory(totals.parameters.bytes)), "strong")]
    if totals.trainable != totals.parameters:
        rows.append(Row("  ", "trainable", (count(totals.trainable.elements), memory(totals.trainable.bytes))))
    if totals.buffers.elements:
        rows.append(Row("", "buffers", (count(totals.buffers.elements), memory(totals.buffers.bytes)), "strong"))
    if totals.unsaved_buffers.elements:
        held = totals.unsaved_buffers
        rows.append(Row("  ", "not saved", (count(held.elements), memory(held.bytes))))
    if totals.attributes.elements:
        held = totals.attributes
        rows.append(Row("", "other tensors", (count(held.elements), memory(held.bytes)), "strong"))
    for kinds in (totals.by_dtype, totals.by_device):
        rows += [Row("", name, (count(held.elements), memory(held.bytes))) for name, held in kinds]
    yield from render(rows, "rr", width, color, ("totals", "elements", "memory"))
    yield ""
    rows = [
        Row("", "parameters and buffers", (memory(needs.parameters + needs.buffers),)),
        Row("", "gradients", (memory(needs.gradients),)),
        *(Row("", f"states of {name}", (memory(size),)) for name, size in needs.optimizers),
    ]
    if needs.activations is not None:
        rows.append(Row("", "activations", (memory(needs.activations),)))
    yield from render(rows, "r", width, color, ("training", "memory"))


def _ranks(sharding: Sharding, width: int | None, color: bool) -> Iterator[str]:
    """The table of what each rank holds."""
    rows = []
    for share in sharding.shares:
        label = f"{share.first}" if share.first == share.last else f"{share.first}-{share.last}"
        cells = (
            count(share.parameters),
            memory(share.bytes),
            memory(share.padding_bytes),
            memory(share.buffer_bytes),
            memory(share.trainable_bytes),
        )
        rows.append(Row("", label, cells))
    names = (f"rank of {sharding.ranks}", "parameters", "memory", "padding", "buffers", "gradients")
    yield from render(rows, "rrrrr", width, color, names)
    if sharding.whole:
        names_of = ", ".join(sharding.whole)
        yield painted(f"fully_shard refuses parameters without dimensions: {names_of}", "bad", color)


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
