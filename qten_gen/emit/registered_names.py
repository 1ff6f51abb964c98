"""The types of the names that a hand-written `__init__` registers, in the stub of a Module.

A checker sees `self.scale = nn.Parameter(...)` in the declaration, so that is not repeated. It sees neither names in strings, nor
what torch's containers hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from keyword import iskeyword

from ..model import ModuleDecl
from ..model.source import Registered, RegisteredKind


def says_more(declaration: ModuleDecl) -> bool:
    """Whether the class registers something that a checker does not see in the declaration."""
    return any(is_told(group) for group in registered_names(declaration).values())


def registered_names(declaration: ModuleDecl) -> dict[str, list[Registered]]:
    """The statements of known type that register each name, without names that the body binds or declares."""
    taken = declaration.bound | {field.name for field in declaration.fields}
    found: dict[str, list[Registered]] = {}
    for each in declaration.registers:
        if each.name.isidentifier() and not iskeyword(each.name) and each.name not in taken:
            found.setdefault(each.name, []).append(each)
    return {name: group for name, group in found.items() if _is_known(group)}


def _is_known(group: Sequence[Registered]) -> bool:
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    return bool(kinds) and (RegisteredKind.OTHER not in kinds or any(each.by_name for each in group))


def is_told(group: Sequence[Registered]) -> bool:
    """Whether the stub has to say what the statements for one name register."""
    return any(each.by_name or (each.type is not None and each.container) for each in group)
