"""One run: find the files, see what is fresh, plan the rest, and bring the disk in line with it.

While nothing has changed this module and what it imports is all that is loaded, so the standard library is all it uses;
the generator proper (`plan`) is imported when there is something to generate.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import manifest
from .apply import Change, changes, write
from .config import Config
from .files import Stat, Tree, discover, outputs_of, source_of
from .groups import Origin, groups, scan
from .manifest import Fresh, Manifest, Remark, Seen, Signature
from .marker import is_ours

if TYPE_CHECKING:
    from .diagnostics import Diagnostic
    from .plan import Crash, Plan

_COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes of a file may leave the same time."""


class Failure(NamedTuple):
    """A file that the system would not let us read, write or remove."""

    path: str
    problem: str


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
        PathError: A path is missing, or is no Python source.
    """
    base = config.root or "."
    context = [os.path.join(base, folder) for folder in config.src]
    tree = discover(paths, config.exclude, base, context)
    cache = config.root or (paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0]) or ".")
    state = _survey(tree, os.path.abspath(cache))
    outcome, fresh = _generate(state, writes) if state.stale or state.orphans else (_nothing_to_do(state), state.fresh)
    _remember(state, fresh)
    return outcome


class _State(NamedTuple):
    """What a look at the disk tells, before anything is parsed."""

    tree: Tree
    cache: str
    names: dict[str, str]
    """Every source's path as the manifest spells it: from the folder `cache`, with forward slashes."""
    known: Manifest
    seen: dict[str, Seen]
    keys: dict[str, str]
    """For each source that matters, the digest of its group."""
    fresh: dict[str, Fresh]
    stale: list[str]
    """Targets whose outputs have to be planned."""
    orphans: dict[str, bytes]
    """Outputs of ours whose source is gone or does not matter any more."""
    failures: tuple[Failure, ...]


def _survey(tree: Tree, cache: str) -> _State:
    """Read what has changed since the last run, and tell the targets that are fresh from those that are not."""
    known = manifest.load(cache)
    names = _names(tree.sources, cache)
    now = time.time_ns()
    seen: dict[str, Seen] = {}
    failures = []
    for path, source in tree.sources.items():
        try:
            seen[path] = _look(path, source.stat, source.origin, known.seen.get(names[path]), now)
        except OSError as error:
            failures.append(Failure(path, f"cannot read it: {error.strerror}"))
    origins = {path: tree.sources[path].origin for path in seen}
    keys: dict[str, str] = {}
    for group in groups(origins, {path: entry.scan for path, entry in seen.items()}):
        parts = sorted(f"{names[path]} {seen[path].module} {seen[path].signature[2]}" for path in group)
        keys.update(dict.fromkeys(group, manifest.digest("\n".join(parts).encode("utf-8", "surrogateescape"))))
    fresh: dict[str, Fresh] = {}
    for path in keys:
        entry = known.fresh.get(names[path])
        if tree.sources[path].target and entry is not None and entry.key == keys[path]:
            outputs = _confirmed(entry.outputs, path, tree.outputs, now)
            if outputs is not None:
                fresh[path] = entry._replace(outputs=outputs)
    stale = [path for path in keys if tree.sources[path].target and path not in fresh]
    unreadable = {failure.path for failure in failures}
    orphans = {}
    for path in tree.outputs:
        source_path = source_of(path)
        recorded = fresh[source_path].outputs if source_path in fresh else {}
        if source_path not in stale and source_path not in unreadable and os.path.basename(path) not in recorded:
            data = _content(path)
            if is_ours(path, data):
                orphans[path] = data
    return _State(tree, cache, names, known, seen, keys, fresh, stale, orphans, tuple(failures))


def _look(path: str, status: Stat, origin: Origin, before: Seen | None, now: int) -> Seen:
    """A source as it is now; it is read only if its size or time is not what it was."""
    if before is not None and before.module == origin.module and before.signature[:2] == status:
        return before
    with open(path, "rb") as file:
        data = file.read()
    content = manifest.digest(data)
    same = before is not None and before.module == origin.module and before.signature[2] == content
    found = before.scan if before is not None and same else scan(data, origin)
    return Seen(_signature(status, content, now), origin.module, found)


def _signature(status: Stat, content: str, now: int) -> Signature:
    size, changed = status
    return size, changed if changed < now - _COARSE_CLOCK else -1, content


def _confirmed(recorded: Mapping[str, Signature], source: str, found: Mapping[str, Stat], now: int) -> dict[str, Signature] | None:
    """The recorded outputs with their present times, or None where one has changed or is missing."""
    confirmed = {}
    for output in outputs_of(source):
        name = os.path.basename(output)
        if name in recorded:
            status, signature = found.get(output), recorded[name]
            if status is None:
                return None
            if status != signature[:2]:
                if manifest.digest(_content(output)) != signature[2]:
                    return None
                signature = _signature(status, signature[2], now)
            confirmed[name] = signature
    return confirmed if confirmed.keys() == recorded.keys() else None


def _content(path: str) -> bytes:
    """The bytes under an output's name; none for a link or a folder, which are never ours."""
    if os.path.islink(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _names(paths: Iterable[str], cache: str) -> dict[str, str]:
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = os.path.relpath(folder or ".", cache).replace(os.sep, "/")
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names


def _nothing_to_do(state: _State) -> Outcome:
    return Outcome(
        sources=_targets(state),
        up_to_date=sum(len(entry.outputs) for entry in state.fresh.values()),
        diagnostics=_warnings(state.fresh),
        failures=state.failures,
    )


def _targets(state: _State) -> int:
    return sum(source.target for source in state.tree.sources.values())


def _warnings(fresh: Mapping[str, Fresh]) -> tuple[Diagnostic, ...]:
    """Warnings of an earlier run about files that have not changed since."""
    remarks = [(path, item) for path, entry in fresh.items() for item in entry.remarks]
    if not remarks:
        return ()
    from .diagnostics import Diagnostic, ordered

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


def _generate(state: _State, writes: bool) -> tuple[Outcome, dict[str, Fresh]]:
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


def _planned(state: _State) -> tuple[Plan, dict[str, bytes]]:
    """The plan for the stale targets, and the outputs that it was made against."""
    from .plan import plan

    wanted = {state.keys[path] for path in state.stale}
    sources = {path: _source(path) for path, key in state.keys.items() if key in wanted}
    origins = {path: state.tree.sources[path].origin for path in sources}
    outputs = [output for path in state.stale for output in outputs_of(path) if output in state.tree.outputs]
    existing = {**{path: _content(path) for path in outputs}, **state.orphans}
    return plan(sources, existing, state.stale, origins), existing


def _source(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _fresh_now(state: _State, planned: Plan, pending: set[str]) -> dict[str, Fresh]:
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
        outputs = {}
        for output, text in texts.items():
            if text is not None:
                status = os.stat(output)
                signature = _signature((status.st_size, status.st_mtime_ns), manifest.digest(_content(output)), now)
                outputs[os.path.basename(output)] = signature
        fresh[path] = Fresh(state.keys[path], outputs, remarks)
    return fresh


def _remark(item: Diagnostic) -> Remark:
    span = item.line, item.column, item.end_line, item.end_column
    return Remark(item.code, item.name, item.message, item.help, item.notes, span)


def _remember(state: _State, fresh: Mapping[str, Fresh]) -> None:
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
