"""Asks the project's own rules whether the classes of a level can be generated, and which change is to blame if not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..generate.examination import Examination, Examined
from ..generate.obstacles import obstacles
from ..model import ModuleDecl, SourceFile, VirtualDecl
from ..model.diagnostics import Diagnostic
from ..project.import_graph import View
from .adoption import Key, Reason
from .opened import OpenFile, Project
from .opening import Opened

_HOW_TO_ALLOW = "name it in a comment there if the author knows better: # qten-gen: ignore[{0}]"

_UNPARSED = Reason("the edited file could not be parsed", "report this as a bug of qten-gen")
BASE_STAYS = Reason("its base stays", "adopt the base first")
"""Why nothing is done with a class whose base stays. The base knows why it does."""


def refusals(before: Project, opened: Opened, proposed: Mapping[str, Collection[str]]) -> dict[Key, Reason]:
    """The classes whose proposals cannot be made, each with the reason.

    Args:
        before: The project before.
        opened: The project with the proposals of a level made.
        proposed: The names of the classes that the level changes, by path.
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
    for path, file in after.files.items():
        if not any(each.is_adopted for each in file.classes.values()):
            continue
        view = readings.graph.view(path)
        if view not in examinations:
            examinations[view] = Examination(readings, path)
        examined = examinations[view].of(path)
        for owner, reason in _problems(path, examined, before, after):
            blamed = _blamed(owner, file, changed)
            found.update({key: reason for key in blamed if key not in found})
    return found


def _problems(path: str, examined: Examined, before: Project, after: Project) -> Iterator[tuple[str, Reason]]:
    """The names of classes with an error, or of all that the file has, and what is wrong."""
    linked = examined.linked
    yield from (("", _reason(item)) for item in obstacles(path, {}))
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


def _reason(item: Diagnostic) -> Reason:
    help = _HOW_TO_ALLOW.format(item.code) if item.kind.is_suppressible and not item.help else item.help
    return Reason(item.message, help, item.code)


def _class_of(item: Diagnostic, source: SourceFile) -> str:
    """The class that a finding is about; empty for one about the file."""
    steps = item.place.steps
    for cls in source.classes:
        if steps[: len(cls.place.steps)] == cls.place.steps and cls.place.steps:
            return cls.name
    return ""


def _blamed(owner: str, file: OpenFile, changed: Mapping[str, Collection[Key]]) -> list[Key]:
    """The changed classes that a finding may come from: its class, or else that one's ancestors.

    All of the file for the file, and for a class that is no module in the eyes of the reader: nothing would be generated for it.
    """
    keys = {key for several in changed.values() for key in several}
    if (file.path, owner) in keys:
        return [(file.path, owner)]
    found = file.classes.get(owner)
    if found is None:
        return [each.key for each in file.classes.values() if each.key in keys]
    return [key for name in found.ancestors for key in changed.get(name, ())]
