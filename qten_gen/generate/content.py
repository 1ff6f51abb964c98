"""The digest of what a file says, which stays the same when comments, formatting or the bodies of functions change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from ..common.digests import digest
from ..common.records import fields, is_record
from ..model import NodePath, SourceFile

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
        return sorted(map(repr, map(_plain, value)))
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
