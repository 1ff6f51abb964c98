"""Plans a long run in several processes, each of which plans a share of the targets.

The plan of a target does not depend on the other targets, so the plans of all shares together are the plan of the whole. The
other processes are copies of this one that begin with what has been read so far. They send back what they planned and what they
read, and write nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..common.records import replace
from ..generate.plan import Plan, plan, together
from ..project.library_classes import RememberedClasses
from ..project.source_texts import SourceTexts
from ..project.stale import ProjectState

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from ..generate.readings import Readings
    from ..model.constructed import FoundClass

FILES_EACH = 64
"""How many targets are worth a process: starting one and taking over what it did takes as long as two or three targets."""

MOST = 8
"""How many processes there are at most. What one of them does for all, such as writing the outputs, takes longest then."""


class Answer(NamedTuple):
    """The plan of a process, and the files that it read for that."""

    plan: Plan
    contents: dict[str, str]
    """The digests of what files say, by path."""
    parts: dict[str, Mapping[str, str]]
    """The digests of what files say of each of their names, by path."""
    digests: dict[str, str]
    """The digests of the bytes of files, by path."""
    classes: dict[str, FoundClass]
    """The classes found in libraries, by qualified name."""


class _Work(NamedTuple):
    """The common start of all processes."""

    state: ProjectState
    existing: Mapping[str, bytes]
    readings: Readings


def plan_in_shares(state: ProjectState, existing: Mapping[str, bytes], readings: Readings) -> Plan:
    """The plan for the stale targets of a run. What was read for it is in `readings` afterwards."""
    shares = _shares(state)
    if len(shares) == 1:
        return plan(readings.sources, existing, state.stale, state.graph, readings)
    work = _Work(state, existing, readings)
    others = [_started(work, share) for share in shares[1:]]
    own = plan(readings.sources, existing, shares[0], state.graph, readings)
    plans = [own, *(_finished(work, share, other) for share, other in zip(shares[1:], others, strict=True))]
    return together(plans)


def _shares(state: ProjectState) -> list[list[str]]:
    """The stale targets, divided among the processes. Those that stand together are planned together."""
    relevant = state.graph.relevant
    targets = sorted(path for path in state.stale if path in relevant)
    processes = max(1, min(len(targets) // FILES_EACH, MOST, _cores()))
    bounds = [len(targets) * number // processes for number in range(processes + 1)]
    shares = [targets[start:end] for start, end in pairwise(bounds)]
    shares[0] += (path for path in state.stale if path not in relevant)
    return shares


def _cores() -> int:
    """How many processes can run at once: one where a copy of this process might not work, as with several threads."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return len(os.sched_getaffinity(0))


class _Other(NamedTuple):
    """Another process, and the end of the pipe where it answers."""

    process: BaseProcess
    answers: Connection


def _started(work: _Work, share: Sequence[str]) -> _Other:
    from multiprocessing import get_context

    context = get_context("fork")
    answers, given = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, share, given, answers), daemon=True)
    process.start()
    given.close()
    return _Other(process, answers)


def _answer(work: _Work, share: Sequence[str], given: Connection, answers: Connection) -> None:
    """Plan a share in a process of its own, and send the answer. An interrupted run needs no answer."""
    answers.close()  # else the pipe would stay open after the end of the first process, and this one would wait for it
    try:
        given.send(answer(work, share))
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(1)  # not `exit`: what the first process does at its end is not for its copy to do


def answer(work: _Work, share: Sequence[str]) -> Answer:
    """Plan a share, and collect what the first process needs besides."""
    state, readings = work.state, work.readings
    made = plan(readings.sources, work.existing, share, state.graph, readings)
    files = {path for target, names in made.lookups.items() for path in state.graph.files(target, names)}
    contents = {path: readings.content(path) for path in sorted(files) if not state.records[path].content}
    asked = {other for target, names in made.lookups.items() for other, _ in state.graph.parts(target, names)}
    parts = {path: readings.parts(path) for path in sorted(asked)}
    digests = readings.sources.digests if isinstance(readings.sources, SourceTexts) else {}
    libraries = state.graph.libraries
    classes = libraries.kept if isinstance(libraries, RememberedClasses) else {}
    # `linked` takes long to send, and only who plans in one process reads it.
    return Answer(replace(made, linked={}), contents, parts, digests, classes)


def _finished(work: _Work, share: Sequence[str], other: _Other) -> Plan:
    """The plan of another process. If it ended without an answer, as when memory is short, its share is planned here."""
    readings = work.readings
    try:
        found: Answer = other.answers.recv()
    except (EOFError, OSError):  # the latter if it ended in the middle of its answer
        return plan(readings.sources, work.existing, share, work.state.graph, readings)
    finally:
        other.answers.close()
    other.process.join()
    readings.know_contents(found.contents, found.parts)
    if isinstance(readings.sources, SourceTexts):
        readings.sources.digests.update(found.digests)
    if work.state.graph.libraries is not None:
        for name, cls in found.classes.items():
            work.state.graph.libraries.keep(name, cls)
    return found.plan
