"""Plans a run: returns generated texts and diagnostics for the bytes of source files, without reading the disk or settings.

The command, its options `--check` and `--diff`, and the tests all call `plan`, which does not raise. It reads, links, checks,
locates and renders one group of files at a time (see `generate.group`). A bug in qten-gen that one file triggers becomes a
`Crash`, and the other files are still generated.
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
    """The texts of the outputs (None to remove an output) and the diagnostics.

    It has no outputs for files with errors, or for `blocked` files, which have no error themselves but depend on a file with one.
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
    """Plan the outputs of `targets`, given the outputs that exist.

    Args:
        sources: The bytes of the files by path: at least those of every group with a target.
        existing: The bytes of existing outputs by path. Those without a source are removed if qten-gen wrote them.
        targets: The files to generate for; None for all sources.
        graph: The sources of the run and their imports. None means that `sources` are all sources, and that a folder is a
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
    """The generated files to remove, because no source declares them any more. Those of `others` are kept."""
    keeping = {path for group in groups for path in group.keeping}.union(others)
    found = sorted(path for path in existing.keys() - set(outputs) if source_of(path) not in keeping)
    return dict.fromkeys(path for path in found if is_ours(path, existing[path]))
