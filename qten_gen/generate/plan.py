"""What a run would do: source files in, generated texts and diagnostics out. No disk, no settings, nothing raised.

Everything that wants generated text calls `plan`: the command, its `--check` and `--diff`, tests. The stages are read, link,
rules and render, for one group of files at a time (see `groups`). A fault of ours in one file becomes a `Crash` and spares the
others.
"""

from __future__ import annotations

import os
import traceback
from ast import PyCF_ONLY_AST
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import ParamSpec, TypeVar

from .. import rules
from ..link import link
from ..link.import_context import import_contexts
from ..model import FileDecl, ImportContext, SourceFile
from ..model.diagnostics import (
    FOREIGN_OUTPUT,
    SYNTAX_ERROR,
    UNDECODABLE_FILE,
    UNIMPORTABLE_FILE,
    UNKNOWN_ROOT,
    Diagnostic,
    diagnostic,
    ordered,
)
from ..project.files import outputs_of, shown, source_of
from ..project.header import is_ours, read_marker
from ..project.import_graph import Origin, closure, groups, importers_of, imports, scan
from ..project.import_mismatch import Misnamed
from ..read.module import read
from ..read.positions import locate
from .render import render

_UNREAD = (SYNTAX_ERROR.code, UNDECODABLE_FILE.code)
"""After one of these nothing is known of what a file declares."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Crash:
    """A fault of ours: the file it happened at, the stage, and the traceback."""

    path: str
    stage: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The texts that outputs should have, None where an output has to go, and what there is to say.

    Outputs of a file with errors are not in it, and neither are those of `held` files: these have no error themselves, but
    depend on a file that has.
    """

    outputs: dict[str, str | None] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    held: tuple[str, ...] = ()
    crashes: tuple[Crash, ...] = ()


def plan(
    sources: Mapping[str, bytes],
    existing: Mapping[str, bytes],
    targets: Collection[str] | None = None,
    origins: Mapping[str, Origin] | None = None,
    reached: Collection[str] = (),
    misnamed: Mapping[str, Misnamed] | None = None,
) -> Plan:
    """Plan the outputs of `targets`, all sources if None, given what lies on the disk.

    `existing` holds outputs by path; those whose source is not among the sources any more are removed if they are ours.
    `origins` tells the modules that the sources are; without it, a folder is a package if its `__init__.py` is a source.
    `reached` are sources that are imported by files which are no sources here, `misnamed` those that are imported by another
    name than that of their origin.
    """
    known = origins if origins is not None else derived_origins(sources)
    wanted = frozenset(sources if targets is None else targets)
    scans = {path: scan(data, known[path]) for path, data in sources.items()}
    imported = imports({path: known[path] for path in sources}, scans)
    parts = [
        _plan_group({path: sources[path] for path in group}, known, imported, existing, wanted, reached)
        for group in groups({path: known[path] for path in sources}, scans, {source_of(path) for path in existing})
        if not wanted.isdisjoint(group)
    ]
    kept = {path for part in parts for path in part.settled}
    outputs = {path: text for part in parts for path, text in part.plan.outputs.items()}
    for path in sorted(existing.keys() - outputs.keys()):
        source = source_of(path)
        if source not in kept and (source in wanted or source not in sources) and is_ours(path, existing[path]):
            outputs[path] = None
    doubtful = {path: how for path, how in (misnamed or {}).items() if outputs.get(outputs_of(path)[0])}
    return Plan(
        outputs,
        ordered(
            [
                *(item for part in parts for item in part.plan.diagnostics),
                *(_misnamed(path, known[path], how) for path, how in doubtful.items()),
            ]
        ),
        tuple(sorted(path for part in parts for path in part.plan.held)),
        tuple(crash for part in parts for crash in part.plan.crashes),
    )


def derived_origins(paths: Iterable[str]) -> dict[str, Origin]:
    """The modules that files are, judged by their paths alone."""
    known = set(paths)
    return {path: _origin(path, known) for path in known}


def _origin(path: str, known: Collection[str]) -> Origin:
    folder, name = os.path.split(path)
    stem = name.removesuffix(".py")
    parts = [] if stem == "__init__" else [stem]
    while os.path.join(folder, "__init__.py") in known:
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return Origin(folder, ".".join(parts), stem == "__init__")


@dataclass(frozen=True, slots=True)
class _Part:
    """The plan of a group. `settled` are the sources whose existing outputs are not orphans."""

    plan: Plan
    settled: frozenset[str]


def _plan_group(
    sources: Mapping[str, bytes],
    origins: Mapping[str, Origin],
    imported: Mapping[str, Collection[str]],
    existing: Mapping[str, bytes],
    wanted: frozenset[str],
    reached: Collection[str],
) -> _Part:
    """Read, link, check and render the files of one group."""
    crashes: list[Crash] = []
    files, found = _read(sources, origins, crashes)
    unread = {item.path for item in found if item.code in _UNREAD} | {crash.path for crash in crashes}
    linked, inconsistent = _linked(files, crashes)
    declared = {path: file for path, file in linked.items() if file.declarations}
    # What is missing in a file because another could not be read is no fault of that file, and proves nothing.
    doubtful = closure(unread, importers_of(imported).__getitem__) - unread
    imported_by_others = {target for path, targets in imported.items() for target in targets if target != path}
    unimported = sources.keys() - imported_by_others - set(reached)
    said = inconsistent + _checked(linked, unimported, crashes)
    found += [item for item in said if item.path not in doubtful]
    found += [item for path in sorted(wanted & declared.keys()) for item in _obstacles(path, existing)]
    located = _attempt(crashes, min(sources), "locating", locate, found, sources)
    diagnostics = ordered(found if located is None else located)

    broken = {item.path for item in diagnostics if item.is_error} | {crash.path for crash in crashes}
    blockers = _blockers(_parents(linked.values(), imported, unread | doubtful), broken)
    generating = declared.keys() | {item.path for item in said} | {source_of(path) for path in existing}
    held = sorted(path for path in wanted & blockers.keys() & generating if path not in broken)
    outputs: dict[str, str | None] = {}
    for path in sorted(wanted & declared.keys() - broken - blockers.keys()):
        outputs.update(_attempt(crashes, path, "rendering", _rendered, declared[path]) or {})
    relevant = wanted | {blocker for path in held for blocker in blockers[path]}
    shown = tuple(item for item in diagnostics if item.path in relevant)
    return _Part(Plan(outputs, shown, tuple(held), tuple(crashes)), frozenset({*declared, *broken, *blockers}))


def _attempt(
    crashes: list[Crash], path: str, stage: str, step: Callable[_P, _T], *args: _P.args, **keywords: _P.kwargs
) -> _T | None:
    """The result of a stage; None, and a crash noted, where it raises."""
    try:
        return step(*args, **keywords)
    except Exception:
        crashes.append(Crash(path, stage, traceback.format_exc()))
        return None


def _read(
    sources: Mapping[str, bytes], origins: Mapping[str, Origin], crashes: list[Crash]
) -> tuple[list[SourceFile], list[Diagnostic]]:
    files: list[SourceFile] = []
    found: list[Diagnostic] = []
    for path, data in sources.items():
        result = _attempt(crashes, path, "reading", read, data, path, origins[path].module, origins[path].is_package)
        if result is not None:
            files.append(result[0])
            found.extend(result[1])
    told = _attempt(crashes, min(sources), "reading", import_contexts, files, sources) or {}
    for index, file in enumerate(files):
        if file.path in told:
            files[index] = _attempt(crashes, file.path, "reading", _read_again, file, sources, told[file.path]) or file
    return files, found


def _read_again(file: SourceFile, sources: Mapping[str, bytes], around: ImportContext) -> SourceFile:
    """The file as it reads when one knows what others bring to it."""
    return read(sources[file.path], file.path, file.module, file.is_package, around)[0]


def _linked(files: list[SourceFile], crashes: list[Crash]) -> tuple[dict[str, FileDecl], list[Diagnostic]]:
    """The linked files by path.

    After a fault each file of the batch has a crash, so that its outputs are not taken for orphans.
    """
    linked: dict[str, FileDecl] = {}
    found: list[Diagnostic] = []
    for batch, own in _batches(files):
        result = _attempt(crashes, own[0], "linking", link, batch)
        if result is None:
            crashes.extend(Crash(path, "linking", crashes[-1].traceback) for path in own[1:])
        else:
            linked.update({file.source.path: file for file in result[0] if file.source.path in own})
            found.extend(item for item in result[1] if item.path in own)
    return linked, found


def _checked(linked: Mapping[str, FileDecl], unimported: Collection[str], crashes: list[Crash]) -> list[Diagnostic]:
    project = rules.Project.of(tuple(linked.values()), unimported)
    return [
        item
        for path, file in linked.items()
        for item in _attempt(crashes, path, "checking", rules.check, file, project) or ()
    ]


def _batches(files: list[SourceFile]) -> Iterator[tuple[list[SourceFile], list[str]]]:
    """The files to link at once, and the paths whose results count.

    Scripts in different folders may be modules of one name: each such file is linked with the rest without its namesakes.
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


def _obstacles(path: str, existing: Mapping[str, bytes]) -> Iterator[Diagnostic]:
    """What stands in the way of writing the outputs of a file, whatever it declares."""
    for output in outputs_of(path):
        if output in existing and read_marker(existing[output]) is None:
            name = os.path.basename(output)
            yield diagnostic(
                FOREIGN_OUTPUT,
                path,
                f"{name} exists and was not written by qten-gen; it would be overwritten",
                help=f"rename or delete {output}",
            )
    stem = os.path.basename(path).removesuffix(".py")
    if not stem.isidentifier() or iskeyword(stem):
        yield diagnostic(
            UNIMPORTABLE_FILE,
            path,
            f"{stem!r} is no module name, so nothing can import what is generated for this file",
            help="rename the file: letters, digits and underscores, not starting with a digit",
        )


def _misnamed(path: str, origin: Origin, how: Misnamed) -> Diagnostic:
    """The warning that a file is part of a package which has no `__init__.py`."""
    folder = os.path.dirname(path) or "."
    root = f'"{shown(how.root)}"' if how.root else f"the folder above {folder}"
    return diagnostic(
        UNKNOWN_ROOT,
        path,
        f"{how.evidence}; there is no {os.path.join(folder, '__init__.py')}, so it is taken for the module {origin.module}",
        line=1,
        column=1,
        help=f"create that file, or name where modules are imported from: source-roots = [{root}] in [tool.qten-gen]",
    )


def _blockers(parents: Mapping[str, Collection[str]], broken: Collection[str]) -> dict[str, set[str]]:
    """For each file that depends on broken files, over any number of steps, those files."""
    blockers: dict[str, set[str]] = {}
    for path in parents:
        seen, waiting = {path}, [path]
        while waiting:
            for parent in set(parents.get(waiting.pop(), ())) - seen:
                seen.add(parent)
                waiting.append(parent)
        behind = (seen - {path}) & set(broken)
        if behind:
            blockers[path] = behind
    return blockers


def _parents(
    files: Iterable[FileDecl], imported: Mapping[str, Collection[str]], doubtful: Collection[str]
) -> dict[str, set[str]]:
    """For each file, those that it depends on: where parents of its classes are declared, and doubtful ones that it imports."""
    listed = list(files)
    homes = {item.qualified: file.source.path for file in listed for item in file.declarations}
    return {
        file.source.path: {
            *(homes[base.name] for item in file.declarations for base in item.bases if base.name in homes),
            *(path for path in imported[file.source.path] if path in doubtful),
        }
        for file in listed
    }


def _rendered(file: FileDecl) -> dict[str, str]:
    """The outputs of a file by path, each proved to be Python.

    Raises:
        SyntaxError: A rendered text is not Python, which is a fault of ours.
    """
    texts = render(file)
    module, stub = outputs_of(file.source.path)
    named = {module: texts["py"], stub: texts["pyi"]}
    for path, text in named.items():
        _check_compiles(path, text)
    return named


def _check_compiles(path: str, text: str) -> None:
    if "\0" in text:  # `compile` raises another exception before Python 3.11.4, and libcst accepts it in strings
        raise SyntaxError("source code cannot contain null bytes")
    try:
        compile(text, path, "exec", flags=PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError:
        # A declaration may use syntax newer than this interpreter; libcst's parser knows it.
        from libcst import ParserSyntaxError, parse_module

        try:
            parse_module(text)
        except ParserSyntaxError:
            pass
        else:
            return
        raise
    compile(text, path, "exec", dont_inherit=True)  # what the grammar allows and Python does not, such as a name twice
