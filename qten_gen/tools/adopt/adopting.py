"""Applies the levels to a project: what is done with each class, why the rest stays, and the new texts.

The levels run one after the other, each on the text that the one before has left, parsed anew. The project's own rules check the
result, so that a run accepts it. If they find an error in a class, the level is asked again with a file that lacks the class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ...common.progress import counted
from ...generate.examination import Examination, Examined
from ...generate.obstacles import obstacles
from ...model import ModuleDecl, SourceFile, VirtualDecl
from ...model.diagnostics import Diagnostic
from ...project.import_graph import View
from ...read.syntax import decode, encoding_of, keeping_trees
from .annotations import propose_annotations
from .files import OpenFile, Project
from .modules import metaclass_obstacle, propose_modules
from .opening import Opened, Sources, open_project
from .records import Adoption, FoundClass, Key, Kind, Level, Options, Outcome, Proposal, Reason
from .tensorclasses import propose_tensorclasses

LevelFunction = Callable[[OpenFile, Project], Iterable[Proposal]]
"""The function of a level: its proposals for each class of a file. It must propose nothing for what it has done before."""


def propose_bases(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes that the level `base` proposes for the classes of a file."""
    yield from propose_modules(file, project)
    yield from propose_tensorclasses(file, project)


LEVELS: Mapping[Level, LevelFunction] = {Level.BASE: propose_bases, Level.ANNOTATE: propose_annotations}
"""The levels, in the order in which they are applied."""

_BASE_STAYS = Reason("its base stays", "adopt the base first")
"""Why nothing is done with a class whose base stays. The base knows why it does."""

_INSIDE = Reason(
    "it stands inside a function or class, where nothing is generated", "move it to the top level", is_open=False
)
_LOCKED = Reason("its file is read-only", "make the file writable")
_UNPARSED = Reason("the edited file could not be parsed", "report this as a bug of qten-gen")
_HOW_TO_ALLOW = "name it in a comment there if the author knows better: # qten-gen: ignore[{0}]"


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


@dataclass(frozen=True, slots=True)
class _Edited:
    """The edit of one file by a level."""

    text: bytes
    proposals: Mapping[Key, Proposal]
    """The proposals that were made."""
    stays: Mapping[Key, Reason]


def adopt(sources: Sources, options: Options) -> Outcome:
    """Apply the levels up to the one that the options ask for, each to what the one before it made of the files."""
    with keeping_trees():
        current, opened = sources, open_project(sources, options)
        records = {each.key: _Record(each) for file in opened.project.files.values() for each in file.all_classes}
        for level, function in LEVELS.items():
            applied = _apply(function, current, opened)
            current, opened = applied.sources, applied.opened
            for key, proposal in applied.proposals.items():
                records[key].done += [(level, line) for line in proposal.does]
                records[key].notes += proposal.notes
            for key, reason in applied.stays.items():
                records[key].stays.append((level, reason))
            if level is options.level:
                break
        adoptions = [_adoption(record, opened.project, records) for record in records.values()]
    return Outcome(
        tuple(sorted(adoptions, key=lambda each: (each.found.path, each.found.line))),
        {path: data for path, data in current.texts.items() if data is not sources.texts[path]},
        opened.problems,
    )


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
        for path, file in counted(project.files.items(), "adopting"):
            key = (path, tuple(name for name, found in file.classes.items() if found.key in refused))
            if key not in results:
                results[key] = _edited(function, file.without(key[1]) if key[1] else file, project, sources, own)
            edited = results[key]
            stays.update(edited.stays)
            if edited.proposals:
                last = latest.readings.sources.get(path)
                texts[path] = last if last is not None and last == edited.text else edited.text
                made.update(edited.proposals)
        if not texts:
            return _Applied(sources, opened, {}, {**stays, **refused})
        after = sources.changed(texts)
        latest = open_project(after, project.options, latest)
        more = _refusals(project, latest, made, sources.outputs)
        if not more:
            return _Applied(after, latest, made, {**stays, **refused})
        refused.update(more)


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
    from ...generate.codemods import CannotRewrite
    from .rewriting import rewritten_file

    encoding, content = encoding_of(before), decode(before, file.path)
    assert isinstance(encoding, str) and isinstance(content, str)
    try:
        return rewritten_file(file, content, proposals, own).encode(encoding)
    except CannotRewrite as reason:
        return Reason(str(reason), "adopt the class by hand")
    except UnicodeEncodeError:
        return Reason("the encoding of the file cannot hold the new text")
    except (SyntaxError, ValueError) as error:
        return Reason(f"the edited file could not be parsed: {error}", "report this as a bug of qten-gen")


def _refusals(
    before: Project, opened: Opened, made: Mapping[Key, Proposal], outputs: Mapping[str, bytes]
) -> dict[Key, Reason]:
    """The classes whose proposals cannot be made, each with the reason, by the project with all of them made."""
    after, readings = opened.project, opened.readings
    changed: dict[str, list[Key]] = {}
    found: dict[Key, Reason] = {}
    for path, name in made:
        changed.setdefault(f"{before.files[path].module}.{name}", []).append((path, name))
        cls = after.files[path].classes.get(name) if path in after.files else None
        if path not in after.files:
            found[path, name] = _UNPARSED
        elif cls is not None and not cls.is_adopted:
            found[path, name] = _BASE_STAYS
    new = {path: _newly_adopted(file, before) for path, file in after.files.items()}
    for path, file in after.files.items():
        for each in new[path]:
            reason = metaclass_obstacle(each, file, after)
            if reason is not None:
                found |= {key: _about(each, reason, key) for key in _blamed(each, changed) if key not in found}
    examinations: dict[View, Examination] = {}
    for path, file in after.files.items():
        if not any(each.is_adopted for each in file.classes.values()):
            continue
        for item in obstacles(path, outputs):
            for each in new[path]:
                for key in () if each.is_inner else _blamed(each, changed):
                    found.setdefault(key, _about(each, _reason(item), key))
        view = readings.graph.view(path)
        if view not in examinations:
            examinations[view] = Examination(readings, path)
        for owner, reason in _problems(path, examinations[view].of(path), before):
            cls = file.classes.get(owner)
            if cls is None:  # about the file, or a class that is no module in the eyes of the reader
                own = [each.key for each in file.classes.values() if each.key in changed.get(each.qualified, ())]
                found |= dict.fromkeys((key for key in own if key not in found), reason)
            else:
                for key in _blamed(cls, changed):
                    found.setdefault(key, _about(cls, reason, key))
    return found


def _newly_adopted(file: OpenFile, before: Project) -> list[FoundClass]:
    """The classes of a file, inner ones included, that the level makes classes of qten_gen."""
    old = before.files.get(file.path)
    were = {each.name for each in old.all_classes if each.is_adopted} if old is not None else set()
    return [each for each in file.all_classes if each.is_adopted and each.name not in were]


def _problems(path: str, examined: Examined, before: Project) -> Iterator[tuple[str, Reason]]:
    """The names of classes with an error, or of all that the file has, and what is wrong."""
    linked = examined.linked
    for item in examined.found:
        if item.is_error and item.path == path:
            yield (_class_of(item, linked.source) if linked is not None else ""), _reason(item)
    old = before.files.get(path)
    for declaration in linked.declarations if linked is not None else ():
        was = old.classes.get(declaration.name) if old is not None else None
        if was is None or was.is_adopted or not isinstance(declaration, ModuleDecl) or declaration.custom_init:
            continue
        fields = [field.name for field in declaration.fields if not isinstance(field, VirtualDecl)]
        if fields:
            text = f"its annotation of {fields[0]} would become an argument of the constructor"
            yield declaration.name, Reason(text, "write ClassVar[...], or give the class an __init__")


def _reason(item: Diagnostic) -> Reason:
    """The reason that a finding is for its class."""
    help = _HOW_TO_ALLOW.format(item.code) if item.kind.is_suppressible and not item.help else item.help
    return Reason(item.message, help, item.code)


def _about(owner: FoundClass, reason: Reason, key: Key) -> Reason:
    """The reason for a class that stays because of one, which may be another one that derives from it."""
    if owner.key == key:
        return reason
    return replace(reason, text=f"{owner.name} in {owner.path} derives from it, and {reason.text}")


def _class_of(item: Diagnostic, source: SourceFile) -> str:
    """The class that a finding is about; empty for one about the file."""
    steps = item.place.steps
    for cls in source.classes:
        if steps[: len(cls.place.steps)] == cls.place.steps and cls.place.steps:
            return cls.name
    return ""


def _blamed(owner: FoundClass, changed: Mapping[str, Collection[Key]]) -> list[Key]:
    """The changed classes that a finding about a class may come from: that class, or else its ancestors."""
    if owner.key in changed.get(owner.qualified, ()):
        return [owner.key]
    return [key for name in owner.ancestors for key in changed.get(name, ())]


def _adoption(record: _Record, project: Project, records: Mapping[Key, _Record]) -> Adoption:
    """The adoption of a class. One that stays without a reason of its own does so because of its bases."""
    found = record.found
    file = project.files.get(found.path)
    is_adopted = file is not None and any(each.is_adopted and each.name == found.name for each in file.all_classes)
    stays = list(record.stays)
    if found.is_inner:
        stays = [] if is_adopted else [(Level.BASE, _INSIDE)]
    elif is_adopted:
        stays = [(level, reason) for level, reason in stays if level is not Level.BASE]
    elif all(reason is _BASE_STAYS for _, reason in stays):
        stays = [(Level.BASE, _because_of_bases(found, records))]
    done = tuple(record.done)
    if is_adopted and not found.is_adopted and not any(level is Level.BASE for level, _ in done):
        names = {other.found.qualified for other in records.values() if other.done}
        base = next((name.rpartition(".")[2] for name in found.ancestors if name in names), "class")
        done = ((Level.BASE, f"nothing to write: its base {base} is adopted"), *done)
    return Adoption(found, is_adopted, done, tuple(stays), tuple(dict.fromkeys(record.notes)))


def _because_of_bases(found: FoundClass, records: Mapping[Key, _Record]) -> Reason:
    """The reason of the nearest ancestor that stays."""
    staying: dict[str, Reason] = {}
    for record in records.values():
        for level, reason in record.stays:
            if level is Level.BASE and reason is not _BASE_STAYS:
                staying.setdefault(record.found.qualified, reason)
    for name in found.ancestors:
        if name in staying:
            reason = staying[name]
            return replace(reason, text=f"its base {name.rpartition('.')[2]} stays: {reason.text}")
    if found.kind is Kind.TENSORCLASS:
        return Reason("its base stays a class of tensordict")
    return Reason("its base is not among the files of this run", "adopt the base first")
