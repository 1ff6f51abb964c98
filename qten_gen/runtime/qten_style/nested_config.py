"""Makes dataclasses of the mappings that stand for them in what JSON or YAML gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType
from typing import Any, get_args, get_type_hints


def with_dataclasses(cls: type, given: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a class, with an object for each mapping whose field is annotated as a dataclass, at any depth.

    `names` has the names of the arguments by those of their fields, where they differ.
    """
    hints = {names.get(field, field): hint for field, hint in get_type_hints(cls).items()}
    return {name: _made(hints.get(name), value) for name, value in given.items()}


def _made(hint: object, value: object) -> object:
    """An object of a dataclass that an annotation names, or the value itself."""
    members = [each for each in get_args(hint) or (hint,) if each is not NoneType]
    if isinstance(value, Mapping) and len(members) == 1 and isinstance(members[0], type) and is_dataclass(members[0]):
        return members[0](**with_dataclasses(members[0], value, {}))
    return value
