"""The digest of a file's declarations, which stays the same when comments, formatting or the bodies of functions change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from ..common.digests import digest
from ..common.records import fields, is_record
from ..model import ClassSource, MethodSource, NodePath, SourceFile

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def content_digest(readings: Collection[SourceFile], asked: Collection[str]) -> str:
    """The digest of a file, without the places in its syntax tree.

    Args:
        readings: The file as it is read for the first time and, if other files change that, for the second time.
        asked: The names that its first reading asked other files for.
    """
    text = repr((_plain(tuple(readings)), sorted(asked)))
    return digest(text.encode("utf-8", "surrogatepass"))


def part_digests(first: SourceFile, last: SourceFile) -> dict[str, str]:
    """The digest of what a file says of each of its names, as it is read for the first and for the last time.

    What has no name, such as star imports, stands under the empty name. `__all__`, handlers and suppressions are left out: who
    asks for them depends on the whole file.
    """
    parts: dict[str, list[object]] = {"": []}
    for reading in (first, last):
        parts[""] += (reading.module, reading.is_package, reading.star_imports, reading.has_star_import)
        parts[""].append(sorted(reading.type_variables))
        for attribute in _BY_NAME:
            for name, said in _named(getattr(reading, attribute)):
                parts.setdefault(name.partition(".")[0], []).append((attribute, name, said))
    return {name: digest(repr(said).encode("utf-8", "surrogatepass"))[:16] for name, said in parts.items()}


_BY_NAME = (
    "classes inner repeated functions variables imports aliases alternatives constants nested type_variables makers names"
).split()
"""The attributes of a file that say something of single names."""


def _named(value: object) -> Iterator[tuple[str, object]]:
    """The content of such an attribute, name by name."""
    if isinstance(value, Mapping):
        yield from ((name, _plain(item)) for name, item in value.items())
    elif isinstance(value, frozenset):
        yield from ((name, None) for name in sorted(value))
    elif isinstance(value, tuple):
        yield from ((_name_of(item), _plain(item)) for item in value)


def _name_of(item: object) -> str:
    match item:
        case ClassSource():
            return item.qualname
        case MethodSource() | (str(), _):
            return item.name if isinstance(item, MethodSource) else str(item[0])
    raise TypeError(item)


def _plain(value: object) -> object:
    """A record as nested tuples that have the same `repr` if and only if the records are equal, places left out."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return tuple([_plain(item) for item in value])
    if isinstance(value, NodePath):
        return None
    if is_record(value):
        return (type(value).__name__, *map(_plain, _items(type(value))(value)))
    if isinstance(value, frozenset):
        return sorted(map(repr, map(_plain, value)))  # the order of a set differs from run to run
    if isinstance(value, Mapping):
        return [(name, _plain(item)) for name, item in value.items()]
    return repr(value)


@lru_cache
def _items(cls: type[DataclassInstance]) -> Callable[[DataclassInstance], tuple[object, ...]]:
    """Gives the fields of a record, without the path of its file, which depends on the working directory."""
    names = [field.name for field in fields(cls) if not (cls is SourceFile and field.name == "path")]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)
