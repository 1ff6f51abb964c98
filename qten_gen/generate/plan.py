"""Plans a run: returns generated texts and diagnostics for the bytes of source files, without reading the disk or settings.

The command, its options `--check` and `--diff`, and the tests all call `plan`, which does not raise. It reads, links, checks,
renders and locates one target after the other. The plan of a target does not depend on the other targets. A bug in qten-gen that
one file triggers becomes a `Crash`, and the other files are still generated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from ..common.progress import counted
from ..common.records import field, record
from ..link.lookups import widest
from ..model import FileDecl
from ..model.diagnostics import Diagnostic, ordered
from ..project.import_graph import SourceGraph, View, graph_from_texts
from ..project.output_names import is_ours, outputs_of, source_of
from ..read.positions import locate
from .examination import Examination
from .obstacles import obstacles, unknown_root
from .outputs import render_outputs, views_of
from .readings import Crash, Readings, attempt
from .unresolved_imports import unresolved_imports


@record(frozen=True, slots=True)
class Plan:
    """The texts of the outputs (None to remove an output) and the diagnostics.

    It has no outputs for files with errors, or for `blocked` files, which have no error themselves but depend on a file with one.
    """

    outputs: dict[str, str | None] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: tuple[str, ...] = ()
    crashes: tuple[Crash, ...] = ()
    lookups: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names on which the plan of each target depends (see `link.lookups`)."""
    linked: dict[str, FileDecl] = field(default_factory=dict)
    """The declarations of the targets that were linked."""
    fingerprints: dict[str, str] = field(default_factory=dict)
    """The fingerprints of what the outputs of targets are rendered from."""
    kept: frozenset[str] = frozenset()
    """The targets whose outputs stay as they are, because they were rendered from what has the same fingerprint."""


@record(frozen=True, slots=True)
class _FilePlan:
    """The plan of one target. The diagnostics have no spans."""

    outputs: dict[str, str]
    diagnostics: tuple[Diagnostic, ...]
    blocking: frozenset[str]
    is_blocked: bool
    keeps_outputs: bool
    """True if its existing outputs stay."""
    lookups: frozenset[str]
    linked: FileDecl | None = None
    fingerprint: str = ""


def plan(
    sources: Mapping[str, bytes],
    existing: Mapping[str, bytes],
    targets: Collection[str] | None = None,
    graph: SourceGraph | None = None,
    readings: Readings | None = None,
    rendered: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """Plan the outputs of `targets`, given the outputs that exist.

    Args:
        sources: The bytes of the files by path. A file that no target depends on is not asked for.
        existing: The bytes of existing outputs by path. One without a source is removed if qten-gen wrote it.
        targets: The files to generate for; None for all sources.
        graph: The sources of the run and their imports. None means that `sources` are all sources, and that a folder is a
            package if its `__init__.py` is one of them.
        readings: What has been read of them already.
        rendered: The fingerprints of what the existing outputs of targets were rendered from. Where they are the same, the
            outputs stay, and are not in the plan.
    """
    known = graph or graph_from_texts(sources, {source_of(path) for path in existing})
    wanted = frozenset(known.origins if targets is None else targets)
    known_readings = readings or Readings(sources, known)
    examinations: dict[View, Examination] = {}
    plans: dict[str, _FilePlan] = {}
    # Sorted, so that messages do not depend on the order of a set.
    for path in counted(sorted(wanted & known.relevant), "generating"):
        view = known.view(path)
        if view not in examinations:
            examinations[view] = Examination(known_readings, path)
        plans[path] = _plan_file(path, examinations[view], known_readings, existing, rendered.get(path))
    found = [item for made in plans.values() for item in made.diagnostics]
    located = (
        attempt(known_readings.crashes, min(plans), "locating", locate, found, sources) or found if found else found
    )
    outputs = {path: text for made in plans.values() for path, text in made.outputs.items()}
    keeping = (known.origins.keys() - wanted).union(path for path, made in plans.items() if made.keeps_outputs)
    return Plan(
        {**outputs, **_orphans(existing, outputs, keeping)},
        ordered(located),
        tuple(path for path, made in plans.items() if made.is_blocked),
        _crashes(known_readings, plans),
        {path: made.lookups for path, made in plans.items()},
        {path: made.linked for path, made in plans.items() if made.linked is not None},
        {path: made.fingerprint for path, made in plans.items() if made.fingerprint},
        frozenset(path for path, made in plans.items() if made.fingerprint and made.fingerprint == rendered.get(path)),
    )


def _plan_file(
    path: str, examination: Examination, readings: Readings, existing: Mapping[str, bytes], known: str | None
) -> _FilePlan:
    """The plan of one target. It contains the diagnostics of another file only if that file blocks the target."""
    with readings.program(path).lookups.recorded() as lookups:
        examined = examination.of(path)
        blocking = examination.blocking(path, existing)
        linked = examined.linked
        declares = linked is not None and bool(linked.declarations)
        # Outputs with a known fingerprint are as the last run left them, so nobody else has written there.
        found = [*examined.found, *(obstacles(path, existing if known is None else {}) if declares else ())]
        if linked is not None and not examined.unread:
            found += (
                attempt(readings.crashes, path, "linking", unresolved_imports, linked, readings, lookups, existing)
                or ()
            )
        broken = examined.is_broken or any(item.is_error for item in found)
        outputs: dict[str, str] = {}
        fingerprint = ""
        if linked is not None and declares and not broken and not blocking:
            if path in readings.graph.mismatches:
                found.append(unknown_root(path, readings.graph.origins[path], readings.graph.mismatches[path]))
            views = attempt(readings.crashes, path, "rendering", views_of, linked)
            if views is not None:
                fingerprint = views.fingerprint
                if fingerprint != known:
                    own = {output: existing[output] for output in outputs_of(path) if output in existing}
                    outputs = attempt(readings.crashes, path, "rendering", render_outputs, path, views, own) or {}
        # Of a file without declarations, findings or outputs, nothing is missing.
        is_suspect = declares or examined.is_suspect or any(output in existing for output in outputs_of(path))
        blocked = bool(blocking) and not broken and is_suspect
        if blocked:
            found += [item for blocker in sorted(blocking) for item in examination.of(blocker).found]
    keeps = declares or broken or bool(blocking)
    return _FilePlan(outputs, tuple(found), blocking, blocked, keeps, widest(lookups), linked, fingerprint)


def _crashes(readings: Readings, plans: Mapping[str, _FilePlan]) -> tuple[Crash, ...]:
    """The first crash of each target, and of each file that blocks one."""
    relevant = {*plans, *(path for made in plans.values() if made.is_blocked for path in made.blocking)}
    first = {crash.path: crash for crash in reversed(readings.crashes) if crash.path in relevant}
    return tuple(crash for _, crash in sorted(first.items()))


def _orphans(existing: Mapping[str, bytes], outputs: Collection[str], keeping: Collection[str]) -> dict[str, None]:
    """The generated files to remove, because no source declares them any more. The outputs of sources in `keeping` stay."""
    found = sorted(path for path in existing.keys() - set(outputs) if source_of(path) not in keeping)
    return dict.fromkeys(path for path in found if is_ours(path, existing[path]))
