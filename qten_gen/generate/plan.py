"""What a run would do: source files in, generated texts and diagnostics out. No disk, no settings, nothing raised.

Everything that wants generated text calls `plan`: the command, its `--check` and `--diff`, tests. The stages are read, link,
check, locate and render, for one group of files at a time (see `generate.group`). A fault of ours in one file becomes a `Crash`
and spares the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ..model.diagnostics import Diagnostic, ordered
from ..project.header import is_ours
from ..project.import_graph import SourceGraph, graph_from_texts
from ..project.output_names import source_of
from .crashes import Crash
from .group import GroupPlan, plan_group


@dataclass(frozen=True, slots=True)
class Plan:
    """The texts that outputs should have, None where an output has to go, and what there is to say.

    Outputs of a file with errors are not in it, and neither are those of `blocked` files: these have no error themselves, but
    depend on a file that has.
    """

    outputs: dict[str, str | None] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: tuple[str, ...] = ()
    crashes: tuple[Crash, ...] = ()


def plan(
    sources: Mapping[str, bytes],
    existing: Mapping[str, bytes],
    targets: Collection[str] | None = None,
    graph: SourceGraph | None = None,
) -> Plan:
    """Plan the outputs of `targets`, all sources if None, given what lies on the disk.

    Args:
        sources: The bytes of the files by path: at least those of every group with a target.
        existing: Outputs by path; those whose source is not among the sources any more are removed if they are ours.
        targets: The files to generate for.
        graph: The sources of the run and their imports; without it, `sources` are all that there are, and a folder is a
            package if its `__init__.py` is one of them.
    """
    known = graph or graph_from_texts(sources, {source_of(path) for path in existing})
    wanted = frozenset(sources if targets is None else targets)
    groups = [
        plan_group(group, sources, known, existing, wanted) for group in known.groups if not wanted.isdisjoint(group)
    ]
    outputs = {path: text for group in groups for path, text in group.outputs.items()}
    return Plan(
        {**outputs, **_orphans(existing, outputs, groups, sources.keys() - wanted)},
        ordered(item for group in groups for item in group.diagnostics),
        tuple(sorted(path for group in groups for path in group.blocked)),
        tuple(crash for group in groups for crash in group.crashes),
    )


def _orphans(
    existing: Mapping[str, bytes], outputs: Collection[str], groups: Iterable[GroupPlan], others: Collection[str]
) -> dict[str, None]:
    """The outputs of ours that have to go: nothing declares them any more. Those of `others` are not judged."""
    keeping = {path for group in groups for path in group.keeping}.union(others)
    found = sorted(path for path in existing.keys() - set(outputs) if source_of(path) not in keeping)
    return dict.fromkeys(path for path in found if is_ours(path, existing[path]))
