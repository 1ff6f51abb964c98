"""One run: find the files, see what is fresh, plan the rest, and bring the disk in line with it.

While nothing has changed this module and what it imports is all that is loaded, so the standard library is all it uses;
the generator proper (`plan`) is imported when there is something to generate.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..project import manifest
from ..project.apply import Change, changes, write
from ..project.config import Config
from ..project.files import PathError, discover, outputs_of
from ..project.manifest import Fresh, Manifest, Remark, Signature
from ..project.staleness import Failure, Survey, content, signature, source_bytes, survey

if TYPE_CHECKING:
    from ..generate.plan import Crash, Plan
    from ..model.diagnostics import Diagnostic


class Outcome(NamedTuple):
    """What a run found and did. `changes` were made where the run writes, and would be made where it does not."""

    sources: int
    up_to_date: int
    changes: tuple[Change, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    held: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    crashes: tuple[Crash, ...] = ()


def run(paths: Sequence[str], config: Config, writes: bool = True) -> Outcome:
    """Generate what is declared below the paths; with `writes` off, only find out what would be done.

    Raises:
        PathError: A path is missing, or is no Python source, or went away during the run.
    """
    base = config.root or "."
    context = [os.path.join(base, folder) for folder in config.src]
    tree = discover(paths, config.exclude, base, context, config.import_roots)
    cache = config.root or (paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0]) or ".")
    state = survey(tree, os.path.abspath(cache))
    outcome, fresh = _generate(state, writes) if state.stale or state.orphans else (_nothing_to_do(state), state.fresh)
    _remember(state, fresh)
    return outcome


def _nothing_to_do(state: Survey) -> Outcome:
    return Outcome(
        sources=_targets(state),
        up_to_date=sum(len(entry.outputs) for entry in state.fresh.values()),
        diagnostics=_warnings(state.fresh),
        failures=state.failures,
    )


def _targets(state: Survey) -> int:
    return sum(source.target for source in state.tree.sources.values())


def _warnings(fresh: Mapping[str, Fresh]) -> tuple[Diagnostic, ...]:
    """Warnings of an earlier run about files that have not changed since."""
    remarks = [(path, item) for path, entry in fresh.items() for item in entry.remarks]
    if not remarks:
        return ()
    from ..model.diagnostics import Diagnostic, ordered

    return ordered(_warning(Diagnostic, path, item) for path, item in remarks)


def _warning(kind: type[Diagnostic], path: str, item: Remark) -> Diagnostic:
    line, column, end_line, end_column = item.span
    return kind(
        item.code,
        item.name,
        "warning",
        path,
        item.message,
        item.help,
        item.notes,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
    )


def _generate(state: Survey, writes: bool) -> tuple[Outcome, dict[str, Fresh]]:
    """Plan what is not fresh, make the changes if asked to, and say what is fresh now."""
    # The parser makes millions of objects that live to the end: looking for garbage among them costs a tenth of the time.
    gc.disable()
    try:
        planned, existing = _planned(state)
    finally:
        gc.enable()
    found = changes(planned.outputs, existing)
    failures = list(state.failures)
    for change in found if writes else ():
        try:
            write(change)
        except OSError as error:
            action = "remove" if change.new is None else "write"
            failures.append(Failure(change.path, f"cannot {action} it: {error.strerror}"))
    failed = {failure.path for failure in failures}
    pending = {change.path for change in found} if not writes else failed
    fresh = {**state.fresh, **_fresh_now(state, planned, pending)}
    kept = sum(text is not None for text in planned.outputs.values()) - sum(change.new is not None for change in found)
    outcome = Outcome(
        sources=_targets(state),
        up_to_date=sum(len(entry.outputs) for entry in state.fresh.values()) + kept,
        changes=tuple(change for change in found if change.path not in failed),
        diagnostics=tuple(sorted((*planned.diagnostics, *_warnings(state.fresh)), key=lambda item: item.order)),
        held=planned.held,
        failures=tuple(failures),
        crashes=planned.crashes,
    )
    return outcome, fresh


def _planned(state: Survey) -> tuple[Plan, dict[str, bytes]]:
    """The plan for the stale targets, and the outputs that it was made against."""
    from ..generate.plan import plan

    wanted = {state.keys[path] for path in state.stale}
    try:
        sources = {path: source_bytes(path) for path, key in state.keys.items() if key in wanted}
    except OSError as error:
        raise PathError(f"{error.filename} went away during the run: {error.strerror}") from None
    origins = {path: state.tree.sources[path].origin for path in sources}
    outputs = [output for path in state.stale for output in outputs_of(path) if output in state.tree.outputs]
    existing = {**{path: content(path) for path in outputs}, **state.orphans}
    return plan(sources, existing, state.stale, origins, state.reached, state.misnamed), existing


def _fresh_now(state: Survey, planned: Plan, pending: set[str]) -> dict[str, Fresh]:
    """The stale targets that are fresh after the run: no error, and all outputs on the disk as planned."""
    unsettled = {item.path for item in planned.diagnostics if item.is_error} | set(planned.held)
    unsettled |= {crash.path for crash in planned.crashes}
    now = time.time_ns()
    fresh = {}
    for path in state.stale:
        texts = {output: planned.outputs.get(output) for output in outputs_of(path)}
        if path in unsettled or not pending.isdisjoint(texts):
            continue
        remarks = tuple(_remark(item) for item in planned.diagnostics if item.path == path)
        outputs = {
            os.path.basename(output): _recorded(output, now) for output, text in texts.items() if text is not None
        }
        fresh[path] = Fresh(state.keys[path], outputs, remarks)
    return fresh


def _recorded(output: str, now: int) -> Signature:
    """The signature of an output that is as planned."""
    try:
        status = os.stat(output)
    except OSError:
        # Another run has just removed it; no file will have this signature.
        return -1, -1, ""
    return signature((status.st_size, status.st_mtime_ns), manifest.digest(content(output)), now)


def _remark(item: Diagnostic) -> Remark:
    span = item.line, item.column, item.end_line, item.end_column
    return Remark(item.code, item.name, item.message, item.help, item.notes, span)


def _remember(state: Survey, fresh: Mapping[str, Fresh]) -> None:
    """Save what is known now, unless it is what was known before."""
    known, names = state.known, state.names
    seen = {names[path]: entry for path, entry in state.seen.items()}
    right = {names[path]: entry for path, entry in fresh.items()}
    present = set(names.values())
    for path, before in known.seen.items():
        if path not in present and os.path.exists(os.path.join(state.cache, path)):
            seen[path] = before
    targets = {names[path] for path, source in state.tree.sources.items() if source.target}
    right.update({path: entry for path, entry in known.fresh.items() if path in seen and path not in targets})
    if Manifest(seen, right) != known:
        manifest.save(state.cache, Manifest(seen, right))
