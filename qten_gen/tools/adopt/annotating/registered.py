"""`self.register_buffer("mask", mask)` in `__init__` → `mask: Tensor` in the class body.

Checkers do not see a name in a string. They do see `self.norm = nn.LayerNorm(dim)`, so that is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ....model.registered import Registered, RegisteredKind
from ..adoption import FoundClass, Need, Proposal
from ..opened import OpenFile, Project
from .functions import attributes_set
from .values import NEVER, NONE, Values

_TYPES = {RegisteredKind.BUFFER: ("torch", "Tensor"), RegisteredKind.PARAMETER: ("torch.nn", "Parameter")}
_TENSORS = (RegisteredKind.BUFFER, RegisteredKind.PARAMETER)


def annotated_names(found: FoundClass, file: OpenFile, project: Project) -> Proposal | None:
    """The annotations of what the `__init__` of a class registers by name; None if there are none to add."""
    names = project.programs[file.path].names
    source = names.class_of(found.qualified)
    if source is None or not any(method.name == "__init__" for method in source[1].methods):
        return None
    bound = set(_bound(found, file, project))
    groups: dict[str, list[Registered]] = {}
    for each in source[1].registers:
        if each.name.isidentifier() and each.name not in bound and not each.name.startswith("__"):
            groups.setdefault(each.name, []).append(each)
    values = attributes_set(found, file, project) if any(map(_is_told, groups.values())) else {}
    lines: list[str] = []
    needs: list[Need] = []
    for name, group in groups.items():
        spelled = _spelled(group, values.get(name, NEVER) | values.get("*", NEVER), file)
        if spelled is not None:
            lines.append(f"{name}: {spelled[0]}")
            needs += spelled[1]
    if not lines:
        return None
    from ..rewriting.class_changes import with_annotations

    does = tuple(f"add {line}" for line in lines)
    return Proposal(found.name, does, (partial(with_annotations, lines=lines),), tuple(needs))


def _bound(found: FoundClass, file: OpenFile, project: Project) -> Iterator[str]:
    """The names that the class or a base among the files binds in its body, so that their type is known there."""
    names = project.programs[file.path].names
    for qualified in (found.qualified, *found.ancestors):
        source = names.class_of(qualified)
        if source is not None:
            cls = source[1]
            yield from (field.name for field in (*cls.fields, *cls.conditional.fields, *cls.for_checkers.fields))
            yield from (method.name for method in (*cls.methods, *cls.conditional.methods, *cls.for_checkers.methods))
            yield from cls.attributes


def _is_told(group: list[Registered]) -> bool:
    """Whether a statement registers a name as a string."""
    return any(each.by_name for each in group)


def _spelled(group: list[Registered], values: Values, file: OpenFile) -> tuple[str, tuple[Need, ...]] | None:
    """The type of a name by all statements that register it; None if it is not certain, or a checker sees it anyway."""
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    if not _is_told(group) or len(kinds) != 1:
        return None
    kind = next(iter(kinds))
    if kind in _TENSORS:
        if not values >= NONE and any(each == "anything" or each.startswith("?") for each in values):
            return None
        spelling = file.spell(*_TYPES[kind])
        return spelling.text + (" | None" if values >= NONE else ""), spelling.needs
    types = {
        each.type.text if each.type is not None and not each.container else "" for each in group if each.kind is kind
    }
    text = next(iter(types))
    if kind is RegisteredKind.CHILD and len(types) == 1 and text.partition(".")[0] in file.scope.imports:
        return text + (" | None" if any(each.may_be_none for each in group) else ""), ()
    return None
