"""A sharding plan as text: what it cuts, what a rank holds of it, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from ....common.folded_names import fold, with_segment
from ..plans import Cut, Plan, Problem
from .numbers import memory
from .table import Row, Style, painted, render


def plan_lines(plan: Plan, width: int | None = None, color: bool = False, *, folds: bool = True) -> Iterator[str]:
    """A line for each tensor that is cut and one for each problem, those of equal layers as one."""
    mesh = ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items())
    rows = [
        Row("", cut.path, (", ".join(map(str, cut.shape)), ", ".join(f"{axis} {at}" for axis, at in cut.axes)))
        for cut in (fold(plan.cuts, lambda cut: cut.path, _cut, lambda cut: cut[1:]) if folds else plan.cuts)
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
    return fold(problems, lambda item: item.name, _problem, lambda item: item[1:], whole_layers=False)


def _problem(item: Problem, position: int, segment: str) -> Problem:
    """A problem under another number; a name in its text with the same numbers goes with it."""
    name = with_segment(item.name, position, segment)
    old, new = (".".join(each.split(".")[: position + 1]) for each in (item.name, name))
    return item._replace(name=name, text=item.text.replace(f"{old}.", f"{new}."))
