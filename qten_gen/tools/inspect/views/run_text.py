"""The run of a model as text: shapes along the way, operations, and what is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from ..folded_layers import Folded, is_list_of_one
from ..inspection import Inspection
from ..recorded_calls import Call, Failure, Finding, Run
from .table import TIMES, Row, count, memory, of_noun, operations, painted, render, shortened

_LONGEST = 60
"""The characters that the shapes of one call take at most."""


def run_lines(run: Run, tree: Folded, width: int | None, color: bool) -> Iterator[str]:
    """The lines about a run."""
    usual = _usual_dtype(run.calls)
    rows = [*_calls(tree, usual)]
    yield from render(rows, "rll", width, color, ("forward", "FLOP", "input", "output"))
    if usual:
        yield ""
        yield f"Shapes are of {usual} unless they say otherwise."
    yield ""
    if run.made_inputs:
        yield f"run with {', '.join(run.made_inputs)}"
    yield _figures(run)
    yield ""
    yield from findings_lines(run, color)


def summary_lines(target: str, found: Inspection, problem: str, color: bool) -> Iterator[str]:
    """A line about a model, and after it what is wrong, or the problem because of which it was not run."""
    held = found.totals.parameters
    inputs = ", ".join(found.run.made_inputs) if found.run else ""
    yield f"{target}: {count(held.elements)} parameters, {memory(held.bytes)}{inputs and f'; run with {inputs}'}"
    if found.run is not None:
        yield from (f"  {line}".rstrip() for line in findings_lines(found.run, color))
    elif problem:
        yield f"  not run: {problem.removeprefix('--run: ')}"


def _usual_dtype(calls: Sequence[Call]) -> str:
    """The dtype of most results."""
    names = [name for call in calls for name in re.findall(r"(\w+) \[", call.output or "")]
    return max(dict.fromkeys(names), key=names.count, default="")


def _calls(node: Folded, usual: str, branch: str = "", stem: str = "") -> Iterator[Row]:
    """A line for each module, with its input and output; modules that were not called have none."""
    label = node.label or node.entry.kind
    if is_list_of_one(node):
        node = node.children[0]
        label = f"{label}.{node.label}"
    if node.count > 1:
        label = f"{label} ({TIMES}{node.count})"
    calls = node.calls[:3]
    first = calls[0] if calls else None
    times = f"{node.call_count} calls" if node.call_count > 1 else ""
    if first is None:
        note = "same module" if node.entry.same_as is not None else "not called" if not node.children else ""
        yield Row(branch, label, ("", "", ""), "plain", note)
    for position, call in enumerate(calls):
        shown = label if position == 0 else f"{label} again"
        texts = (call.inputs, "raised" if call.output is None else call.output)
        cells = (operations(call.flops), *(shortened(text.replace(f"{usual} [", "["), _LONGEST) for text in texts))
        yield Row(branch, shown, cells, "strong", times if position == 0 else "")
    for position, child in enumerate(node.children):
        is_last = position == len(node.children) - 1
        inner, below = f"{stem}{'└─ ' if is_last else '├─ '}", f"{stem}{'   ' if is_last else '│  '}"
        yield from _calls(child, usual, inner, below)


def _figures(run: Run) -> str:
    """The operations of the run."""
    backward = "" if run.backward_flops is None else f", {operations(run.backward_flops)} backward"
    return f"FLOP in {'training' if run.training else 'evaluation'} mode: {operations(run.forward_flops)} forward{backward}"


def findings_lines(run: Run, color: bool) -> Iterator[str]:
    """The problems: the mismatches of annotations, equal ones in several modules once, and the error that was raised."""
    groups = grouped(run.findings)
    for group in groups:
        yield from _finding(group, color)
    if run.failure is not None:
        yield from failure_lines(run.failure, color)
    if groups:
        verb = "does" if len(groups) == 1 else "do"
        yield painted(f"{of_noun(len(groups), 'annotation')} {verb} not hold", "bad", color)
    elif run.failure is None and run.compared:
        yield painted(f"annotated shapes hold: {of_noun(run.compared, 'tensor')} compared", "good", color)
    elif run.failure is None:
        yield "no annotation says a shape"


def grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Mismatches that differ only in the module where they were found, in the order of the first of each."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        mismatch = finding.mismatch
        key = (finding.function, finding.place, mismatch.name, mismatch.expected, mismatch.got)
        groups.setdefault(key, []).append(finding)
    return [*groups.values()]


def _finding(group: Sequence[Finding], color: bool) -> Iterator[str]:
    """The lines on one annotation that does not hold, for all modules where it is the same."""
    first = group[0]
    mismatch = first.mismatch
    paths = [*dict.fromkeys(finding.path or "the model" for finding in group)]
    others = f" and {of_noun(len(paths) - 1, 'other module')}" if len(paths) > 1 else ""
    verb = "cannot be checked" if mismatch.is_unreadable else "mismatch"
    yield f"{painted(verb, 'bad', color)} in {paths[0]}{others}: {mismatch.name} of {first.function}"
    yield f"  expected  {mismatch.expected}"
    came = f", the output of {first.origin}" if first.origin is not None else ""
    yield f"  got       {mismatch.got}{came}"
    for reason in mismatch.reasons:
        yield f"  because   {reason}"
    if first.place:
        yield f"  declared  {shortened_place(first.place)}"
    yield ""


def failure_lines(failure: Failure, color: bool) -> Iterator[str]:
    """The error that the model raised, with the frames of the user's code."""
    where = f" in {failure.path}" if failure.path else ""
    yield f"{painted('error', 'bad', color)}: {failure.stage} raised{where}"
    yield from (f"  {line}" for line in failure.trace.splitlines())
    yield from (f"  {line}" for line in failure.problem.splitlines())
    yield ""


def shortened_place(place: str) -> str:
    """A file and line, relative to the current folder where the file is in it."""
    path, _, line = place.rpartition(":")
    relative = os.path.relpath(path)
    return f"{path if relative.startswith('..') else relative}:{line}"
