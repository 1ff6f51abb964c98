"""Applies the levels to a project: what is done with each class, why the rest stays, and the new texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ...model.diagnostics import Diagnostic
from ...read.encoding import decode, encoding_of
from ...read.syntax import keeping_trees
from .adoption import Adoption, FoundClass, Key, Kind, Level, Options, Proposal, Reason
from .annotating import propose_annotations
from .base import propose_bases
from .level_rules import BASE_STAYS, refusals
from .opened import OpenFile, Project
from .opening import Opened, Sources, open_project

LevelFunction = Callable[[OpenFile, Project], Iterable[Proposal]]
"""The function of a level: its proposals for each class of a file.

The levels are applied one after the other, each to the text that the one before has left, parsed anew. The rules check the
result. If they find an error in a class, the level is asked again with a file that lacks the class, and the report gives the
finding. A level must propose nothing for what it has done before: a second run has nothing to do.
"""

LEVELS: Mapping[Level, LevelFunction] = {Level.BASE: propose_bases, Level.ANNOTATE: propose_annotations}

_INSIDE = Reason(
    "it stands inside a function or class, where nothing is generated", "move it to the top level", is_open=False
)
_LOCKED = Reason("its file is read-only", "make the file writable")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a run, or of a run that writes nothing."""

    adoptions: tuple[Adoption, ...]
    """Every class, by path and line."""
    texts: Mapping[str, bytes]
    """The new texts of the files that change, by path."""
    problems: tuple[Diagnostic, ...] = ()
    """Why files cannot be read."""
    files: int = 0
    """How many files have classes to adopt, or adopted ones."""


@dataclass(slots=True)
class _Record:
    """The reports about one class so far."""

    found: FoundClass
    done: list[tuple[Level, str]] = field(default_factory=list)
    stays: list[tuple[Level, Reason]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Applied:
    """A level, applied: the files afterwards, what it did, and why it could not do more."""

    sources: Sources
    opened: Opened
    proposals: Mapping[Key, Proposal]
    """The proposals that were made."""
    stays: Mapping[Key, Reason]


def adopt(sources: Sources, options: Options, levels: Mapping[Level, LevelFunction] = LEVELS) -> Outcome:
    """Apply the levels up to the one that the options ask for."""
    with keeping_trees():
        return _adopt(sources, options, levels)


def _adopt(sources: Sources, options: Options, levels: Mapping[Level, LevelFunction]) -> Outcome:
    """Apply each level to what the one before it made of the files."""
    opened = open_project(sources, options)
    first = opened.project
    records = {each.key: _Record(each) for file in first.files.values() for each in _all(file)}
    current = sources
    for level in options.level.included:
        applied = _apply(levels[level], current, opened)
        current, opened = applied.sources, applied.opened
        for key, proposal in applied.proposals.items():
            records[key].done += [(level, line) for line in proposal.does]
            records[key].notes += proposal.notes
        for key, reason in applied.stays.items():
            records[key].stays.append((level, reason))
    adoptions = [_adoption(record, opened.project, records) for record in records.values()]
    return Outcome(
        tuple(sorted(adoptions, key=lambda each: (each.found.path, each.found.line))),
        {path: data for path, data in current.texts.items() if data is not sources.texts[path]},
        opened.problems,
        len(first.files),
    )


def _all(file: OpenFile) -> list[FoundClass]:
    return [*file.classes.values(), *file.inner]


def _apply(function: LevelFunction, sources: Sources, opened: Opened) -> _Applied:
    """Apply one level. Classes that the rules refuse are left out, until the rules accept the rest."""
    project, latest = opened.project, opened
    refused: dict[Key, Reason] = {}
    results: dict[tuple[str, tuple[str, ...]], _Edited] = {}
    own = {origin.module.partition(".")[0] for origin in sources.origins.values()}
    while True:
        texts: dict[str, bytes] = {}
        made: dict[Key, Proposal] = {}
        stays: dict[Key, Reason] = {}
        proposed: dict[str, list[str]] = {}
        for path, file in project.files.items():
            key = (path, tuple(name for name, found in file.classes.items() if found.key in refused))
            if key not in results:
                results[key] = _edited(function, file.without(key[1]) if key[1] else file, project, sources, own)
            edited = results[key]
            stays.update(edited.stays)
            changing = edited.proposals
            if changing:
                last = latest.readings.sources.get(path)
                texts[path] = last if last is not None and last == edited.text else edited.text
                proposed[path] = [each.name for each in changing.values()]
                made.update(changing)
        if not texts:
            return _Applied(sources, opened, {}, {**stays, **refused})
        after = sources.changed(texts)
        latest = open_project(after, project.options, latest)
        more = refusals(project, latest, proposed, sources.outputs)
        if not more:
            return _Applied(after, latest, made, {**stays, **refused})
        refused.update(more)


@dataclass(frozen=True, slots=True)
class _Edited:
    """The edit of one file by a level."""

    text: bytes
    proposals: Mapping[Key, Proposal]
    """The proposals that were made."""
    stays: Mapping[Key, Reason]


def _edited(function: LevelFunction, file: OpenFile, project: Project, sources: Sources, own: set[str]) -> _Edited:
    """Apply a level to one file."""
    proposals = list(function(file, project))
    before = sources.texts[file.path]
    stays = {(file.path, each.name): each.stays for each in proposals if each.stays is not None}
    changing = {(file.path, each.name): each for each in proposals if each.changes}
    result: bytes | Reason = before
    if changing:
        is_locked = file.path in sources.locked
        result = _LOCKED if is_locked else _new_text(file, list(changing.values()), before, own)
    if isinstance(result, Reason):
        return _Edited(before, {}, {**stays, **dict.fromkeys(changing, result)})
    return _Edited(result, changing, stays)


def _new_text(file: OpenFile, proposals: list[Proposal], before: bytes, own: set[str]) -> bytes | Reason:
    """The new text of a file, or why it cannot be had."""
    from ...generate.rewriting import CannotRewrite
    from .rewriting import rewritten_file

    encoding, content = encoding_of(before), decode(before, file.path)
    assert isinstance(encoding, str) and isinstance(content, str)
    try:
        return rewritten_file(file, content, proposals, own).encode(encoding)
    except CannotRewrite as reason:
        return Reason(str(reason), "adopt the class by hand")
    except (SyntaxError, ValueError) as error:
        if isinstance(error, UnicodeEncodeError):
            return Reason("the encoding of the file cannot hold the new text")
        return Reason(f"the edited file could not be parsed: {error}", "report this as a bug of qten-gen")


def _adoption(record: _Record, project: Project, records: Mapping[Key, _Record]) -> Adoption:
    """The adoption of a class. One that stays without a reason of its own does so because of its bases."""
    found = record.found
    file = project.files.get(found.path)
    now = next((each for each in _all(file) if each.name == found.name), None) if file is not None else None
    is_adopted = now is not None and now.is_adopted
    stays = list(record.stays)
    if found.is_inner:
        stays = [] if is_adopted else [(Level.BASE, _INSIDE)]
    elif is_adopted:
        stays = [(level, reason) for level, reason in stays if level is not Level.BASE]
    elif all(reason is BASE_STAYS for _, reason in stays):
        stays = [(Level.BASE, _because_of_bases(found, records))]
    done = tuple(record.done)
    if is_adopted and not found.is_adopted and not any(level is Level.BASE for level, _ in done):
        done = ((Level.BASE, f"nothing to write: its base {_adopted_base(found, records)} is adopted"), *done)
    return Adoption(found, is_adopted, done, tuple(stays), tuple(dict.fromkeys(record.notes)))


def _adopted_base(found: FoundClass, records: Mapping[Key, _Record]) -> str:
    names = {record.found.qualified for record in records.values() if record.done}
    return next((name.rpartition(".")[2] for name in found.ancestors if name in names), "class")


def _because_of_bases(found: FoundClass, records: Mapping[Key, _Record]) -> Reason:
    """The reason of the nearest ancestor that stays."""
    staying: dict[str, Reason] = {}
    for record in records.values():
        for level, reason in record.stays:
            if level is Level.BASE and reason is not BASE_STAYS:
                staying.setdefault(record.found.qualified, reason)
    for name in found.ancestors:
        if name in staying:
            reason = staying[name]
            return Reason(f"its base {name.rpartition('.')[2]} stays: {reason.text}", reason.help, reason.code)
    if found.kind is Kind.TENSORCLASS:
        return Reason("its base stays a class of tensordict")
    return Reason("its base is not among the files of this run", "adopt the base first")
