"""Asks the project's own rules whether the classes of a level can be generated, and which change is to blame if not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ...generate.examination import Examination, Examined
from ...generate.obstacles import obstacles
from ...model import ModuleDecl, SourceFile, VirtualDecl
from ...model.diagnostics import Diagnostic
from ...project.import_graph import View
from .adoption import FoundClass, Key, Kind, Reason
from .metaclasses import inherited_metaclass, own_metaclass
from .opened import OpenFile, Project
from .opening import Opened

_HOW_TO_ALLOW = "name it in a comment there if the author knows better: # qten-gen: ignore[{0}]"

_UNPARSED = Reason("the edited file could not be parsed", "report this as a bug of qten-gen")
BASE_STAYS = Reason("its base stays", "adopt the base first")
"""Why nothing is done with a class whose base stays. The base knows why it does."""


def refusals(
    before: Project, opened: Opened, proposed: Mapping[str, Collection[str]], outputs: Mapping[str, bytes]
) -> dict[Key, Reason]:
    """The classes whose proposals cannot be made, each with the reason.

    Args:
        before: The project before.
        opened: The project with the proposals of a level made.
        proposed: The names of the classes that the level changes, by path.
        outputs: The files that have the name of an output, by path.
    """
    after, readings = opened.project, opened.readings
    examinations: dict[View, Examination] = {}
    changed: dict[str, list[Key]] = {}
    for path, names in proposed.items():
        for name in names:
            changed.setdefault(f"{before.files[path].module}.{name}", []).append((path, name))
    found: dict[Key, Reason] = {}
    for path, names in proposed.items():
        file = after.files.get(path)
        if file is None:
            found.update(dict.fromkeys(((path, name) for name in names), _UNPARSED))
            continue
        for name in names:
            cls = file.classes.get(name)
            if cls is not None and not cls.is_adopted:
                found[path, name] = BASE_STAYS
    new = {path: _newly_adopted(file, before) for path, file in after.files.items()}
    for path, file in after.files.items():
        for each in new[path]:
            reason = _of_metaclass(each, file, after)
            if reason is not None:
                found.update({key: reason for key in _blamed(each, file, changed) if key not in found})
    for path, file in after.files.items():
        if not any(each.is_adopted for each in file.classes.values()):
            continue
        for item in obstacles(path, outputs):
            for each in new[path]:
                for key in () if each.is_inner else _blamed(each, file, changed):
                    found.setdefault(key, _reason(item, each if each.key != key else None))
        view = readings.graph.view(path)
        if view not in examinations:
            examinations[view] = Examination(readings, path)
        examined = examinations[view].of(path)
        for owner, reason in _problems(path, examined, before, after):
            cls = file.classes.get(owner)
            blamed = _blamed(cls, file, changed) if cls is not None else _of_file(file, changed)
            found.update({key: reason for key in blamed if key not in found})
    return found


def _newly_adopted(file: OpenFile, before: Project) -> list[FoundClass]:
    """The classes of a file, inner ones included, that the level makes classes of qten_gen."""
    old = before.files.get(file.path)
    were = {each.name for each in (*old.classes.values(), *old.inner) if each.is_adopted} if old is not None else set()
    return [each for each in (*file.classes.values(), *file.inner) if each.is_adopted and each.name not in were]


def _of_metaclass(found: FoundClass, file: OpenFile, project: Project) -> Reason | None:
    """The problem with a class whose metaclass cannot be combined with ours: its class statement would raise TypeError."""
    own = own_metaclass(found, file, project)
    name, metaclass = found.name, own
    if own is None:
        inherited = inherited_metaclass(found, project.programs[file.path])
        if inherited is None:
            return None
        name, metaclass = inherited
    root = "TensorClass" if found.kind is Kind.TENSORCLASS else "Module"
    return Reason(f"the metaclass of {name} is {metaclass}, and {root} has one of its own")


def _problems(path: str, examined: Examined, before: Project, after: Project) -> Iterator[tuple[str, Reason]]:
    """The names of classes with an error, or of all that the file has, and what is wrong."""
    linked = examined.linked
    for item in examined.found:
        if item.is_error and item.path == path:
            yield (_class_of(item, linked.source) if linked is not None else ""), _reason(item)
    old = before.files.get(path)
    for declaration in linked.declarations if linked is not None else ():
        was = old.classes.get(declaration.name) if old is not None else None
        if (
            isinstance(declaration, ModuleDecl)
            and was is not None
            and not was.is_adopted
            and not declaration.custom_init
        ):
            fields = [field.name for field in declaration.fields if not isinstance(field, VirtualDecl)]
            if fields:
                text = f"its annotation of {fields[0]} would become an argument of the constructor"
                yield declaration.name, Reason(text, "write ClassVar[...], or give the class an __init__")


def _reason(item: Diagnostic, subclass: FoundClass | None = None) -> Reason:
    """The reason that a finding is for its class, or for a base of it."""
    about = "" if subclass is None else f"{subclass.name} in {subclass.path} derives from it, and "
    help = _HOW_TO_ALLOW.format(item.code) if item.kind.is_suppressible and not item.help else item.help
    return Reason(f"{about}{item.message}", help, item.code)


def _class_of(item: Diagnostic, source: SourceFile) -> str:
    """The class that a finding is about; empty for one about the file."""
    steps = item.place.steps
    for cls in source.classes:
        if steps[: len(cls.place.steps)] == cls.place.steps and cls.place.steps:
            return cls.name
    return ""


def _blamed(owner: FoundClass, file: OpenFile, changed: Mapping[str, Collection[Key]]) -> list[Key]:
    """The changed classes that a finding about a class may come from: that class, or else its ancestors."""
    if owner.key in changed.get(owner.qualified, ()):
        return [owner.key]
    return [key for name in owner.ancestors for key in changed.get(name, ())]


def _of_file(file: OpenFile, changed: Mapping[str, Collection[Key]]) -> list[Key]:
    """The changed classes of a file, which a finding about the file may come from.

    So may one about a class that is no module in the eyes of the reader: nothing would be generated for it.
    """
    return [each.key for each in file.classes.values() if each.key in changed.get(each.qualified, ())]
