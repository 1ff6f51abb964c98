"""Makes dataclasses of the mappings that stand for them in what JSON or YAML gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def with_dataclasses(cls: type, given: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """The arguments of a class, with an object for each mapping whose field is annotated as a dataclass, at any depth.

    `names` has the names of the arguments by those of their fields, where they differ.
    """
    if not any(map(_holds_mapping, given.values())):
        return given  # annotations are evaluated only if need be: a class may import their names for checkers alone
    hints = {names.get(field, field): hint for field, hint in get_type_hints(cls).items()}
    return {name: _made(hints.get(name), value) for name, value in given.items()}


def _holds_mapping(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_holds_mapping, value)))


def _made(hint: object, value: object) -> object:
    """An object of the dataclass that an annotation names, also inside `list[...]` and `dict[str, ...]`, or the value itself."""
    origin, members = get_origin(hint), get_args(hint)
    if not _holds_mapping(value):
        return value
    if origin in (Union, UnionType):
        members = tuple(each for each in members if each is not NoneType)
        return _made(members[0], value) if len(members) == 1 else value
    if isinstance(value, Mapping):
        if isinstance(hint, type) and is_dataclass(hint):
            return hint(**with_dataclasses(hint, value, {}))
        return {key: _made(members[1], each) for key, each in value.items()} if len(members) == 2 else value
    if not isinstance(value, list | tuple) or not members or (origin is tuple and members[1:] != (...,)):
        return value
    made = [_made(members[0], each) for each in value]
    return tuple(made) if origin is tuple else made
