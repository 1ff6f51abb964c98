"""Plans one group of files: reads, links, checks, locates and renders them.

The files of a group import each other, so they are read together (see `project.import_graph`). An error in one file blocks only
the files that depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import rules
from ..link import link
from ..link.bases import Ancestry
from ..link.import_context import import_contexts
from ..link.names import Names
from ..model import FileDecl, ImportContext, SourceFile
from ..model.diagnostics import SYNTAX_ERROR, UNDECODABLE_FILE, Diagnostic, ordered
from ..project.import_graph import SourceGraph, closure, importers_of
from ..project.output_names import outputs_of, source_of
from ..read.module import read
from ..read.positions import locate
from .blockers import blockers, dependencies
from .crashes import Crash, attempt
from .obstacles import obstacles, unknown_root
from .outputs import render_outputs
from .unfound import unfound_modules

_UNREADABLE = (SYNTAX_ERROR, UNDECODABLE_FILE)
"""After one of these errors, the declarations of a file are not known."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """The plan of a group, as in `Plan`. `keeping` are the sources whose existing outputs are not orphans."""

    outputs: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    blocked: tuple[str, ...]
    crashes: tuple[Crash, ...]
    keeping: frozenset[str]


def plan_group(
    group: Sequence[str],
    sources: Mapping[str, bytes],
    graph: SourceGraph,
    existing: Mapping[str, bytes],
    targets: frozenset[str],
) -> GroupPlan:
    """Plan the outputs of the targets in a group. It does not raise.

    The plan contains diagnostics of another file only if that file blocks a target.
    """
    texts = {path: sources[path] for path in group}
    imports = {path: [target for target in graph.imports[path] if target in texts] for path in group}
    crashes: list[Crash] = []
    files, found = _read(texts, graph, crashes)
    linked, inconsistent = _link(files, crashes)
    unknown = _unfound(linked, files, graph, existing, crashes)
    checked = inconsistent + _check(linked, texts.keys() - graph.imported, crashes)

    unread = {item.path for item in found if item.kind in _UNREADABLE} | {crash.path for crash in crashes}
    # Diagnostics in a file that imports an unreadable one may be caused by that, so they are dropped.
    undecided = closure(unread, importers_of(imports).__getitem__) - unread
    declaring = {path: file for path, file in linked.items() if file.declarations}
    found += [item for item in (*checked, *unknown) if item.path not in undecided]
    found += [item for path in sorted(targets & declaring.keys()) for item in obstacles(path, existing)]

    broken = {item.path for item in found if item.is_error} | {crash.path for crash in crashes}
    blocking = blockers(dependencies(linked.values(), imports, unread | undecided), broken)
    generating = declaring.keys() | {item.path for item in checked} | {source_of(path) for path in existing}
    blocked = sorted(path for path in targets & blocking.keys() & generating if path not in broken)
    sound = sorted(targets & declaring.keys() - broken - blocking.keys())
    found += [_unknown_root(path, graph) for path in sound if path in graph.mismatches]

    relevant = targets | {blocker for path in blocked for blocker in blocking[path]}
    diagnostics = _locate([item for item in found if item.path in relevant], texts, crashes)
    outputs = _render([declaring[path] for path in sound], crashes)
    keeping = frozenset({*declaring, *broken, *blocking})
    return GroupPlan(outputs, diagnostics, tuple(blocked), tuple(crashes), keeping)


def _read(
    texts: Mapping[str, bytes], graph: SourceGraph, crashes: list[Crash]
) -> tuple[list[SourceFile], list[Diagnostic]]:
    """Read all files, and return them with the diagnostics of those that cannot be read.

    Files whose names depend on other files are read a second time, after all others.
    """
    files: list[SourceFile] = []
    found: list[Diagnostic] = []
    for path, data in texts.items():
        origin = graph.origins[path]
        result = attempt(crashes, path, "reading", read, data, path, origin.module, origin.is_package)
        if result is not None:
            files.append(result[0])
            found.extend(result[1])
    contexts = attempt(crashes, min(texts), "reading", import_contexts, files, texts) or {}
    for index, file in enumerate(files):
        if file.path in contexts:
            files[index] = attempt(crashes, file.path, "reading", _read_again, file, texts, contexts[file.path]) or file
    return files, found


def _read_again(file: SourceFile, texts: Mapping[str, bytes], context: ImportContext) -> SourceFile:
    """Read a file again, with what it needs to know of other files."""
    return read(texts[file.path], file.path, file.module, file.is_package, context)[0]


def _link(files: list[SourceFile], crashes: list[Crash]) -> tuple[dict[str, FileDecl], list[Diagnostic]]:
    """Link the files, and return them by path with the diagnostics about bases.

    If linking crashes, each file of the batch gets a crash, so that its outputs do not count as orphans.
    """
    linked: dict[str, FileDecl] = {}
    found: list[Diagnostic] = []
    for batch, own in _batches(files):
        result = attempt(crashes, own[0], "linking", link, batch)
        if result is None:
            crashes.extend(Crash(path, "linking", crashes[-1].traceback) for path in own[1:])
        else:
            linked.update({file.source.path: file for file in result[0] if file.source.path in own})
            found.extend(item for item in result[1] if item.path in own)
    return linked, found


def _batches(files: list[SourceFile]) -> Iterator[tuple[list[SourceFile], list[str]]]:
    """The files to link together, with the paths whose results are used.

    Scripts in different folders may have the same module name. Each of them is linked with the rest, but without its namesakes.
    """
    by_module: dict[str, list[SourceFile]] = {}
    for file in files:
        by_module.setdefault(file.module, []).append(file)
    single = [namesakes[0] for namesakes in by_module.values() if len(namesakes) == 1]
    if single:
        yield single, [file.path for file in single]
    for namesakes in by_module.values():
        if len(namesakes) > 1:
            yield from (([*single, file], [file.path]) for file in namesakes)


def _check(linked: Mapping[str, FileDecl], unimported: Collection[str], crashes: list[Crash]) -> list[Diagnostic]:
    """Run the rules on all files. `unimported` are the files that no other file imports."""
    project = rules.Project.of(tuple(linked.values()), unimported)
    found: list[Diagnostic] = []
    for path, file in linked.items():
        found.extend(attempt(crashes, path, "checking", rules.check, file, project) or ())
    return found


def _unfound(
    linked: Mapping[str, FileDecl],
    files: Sequence[SourceFile],
    graph: SourceGraph,
    existing: Mapping[str, bytes],
    crashes: list[Crash],
) -> list[Diagnostic]:
    """Errors for classes that depend on modules which cannot be found."""
    lost = frozenset[str]().union(*(graph.unfound.get(path, ()) for path in linked))
    found: list[Diagnostic] = []
    if lost:
        ancestry = Ancestry(Names(files))
        for path, file in linked.items():
            generated = existing.get(outputs_of(path)[0], b"")
            found.extend(attempt(crashes, path, "linking", _listed, file, ancestry.mro, lost, generated) or ())
    return found


def _listed(
    file: FileDecl, mro: Callable[[str], Iterable[str]], lost: Collection[str], generated: bytes
) -> list[Diagnostic]:
    return list(unfound_modules(file, mro, lost, generated))


def _unknown_root(path: str, graph: SourceGraph) -> Diagnostic:
    return unknown_root(path, graph.origins[path].module, graph.mismatches[path])


def _locate(found: Sequence[Diagnostic], texts: Mapping[str, bytes], crashes: list[Crash]) -> tuple[Diagnostic, ...]:
    """The diagnostics with their spans, or without if locating them crashes."""
    return ordered(attempt(crashes, min(texts), "locating", locate, found, texts) or found)


def _render(files: Iterable[FileDecl], crashes: list[Crash]) -> dict[str, str]:
    """Render the outputs of all files without a crash, by path."""
    crashed = {crash.path for crash in crashes}
    outputs: dict[str, str] = {}
    for file in files:
        if file.source.path not in crashed:
            outputs.update(attempt(crashes, file.source.path, "rendering", render_outputs, file) or {})
    return outputs
