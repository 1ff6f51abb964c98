"""Parsed sources as bytes for the cache, and back.

The bytes are JSON: a record is a list that begins with its number among `_RECORDS`, and any other container one that begins with
a letter. So whatever stands in a cache that a checkout brought along, nothing but these records is made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..common.header import digest
from ..common.records import MISSING, fields
from ..model import (
    Argument,
    Asked,
    ClassSource,
    ConditionalSource,
    Default,
    Dim,
    DimError,
    FieldSource,
    ImportContext,
    ImportedName,
    MethodSource,
    NodePath,
    RegistrationSource,
    ReplaceSource,
    Signature,
    SourceFile,
    SpecifierCall,
    TypeExpr,
    TypeVariable,
    Value,
)
from ..model.field_parts import Choice, Partial
from ..model.source import AttributeChange, Registered, RegisteredKind
from ..project.scan import Origin
from ..read.module import read

_RECORDS = (
    *(SourceFile, ClassSource, ConditionalSource, RegistrationSource, ImportedName, TypeVariable, FieldSource),
    *(MethodSource, Signature, AttributeChange, SpecifierCall, Argument, TypeExpr, Value, Default, Partial, Choice),
    *(Dim, DimError, Registered, ReplaceSource),
)
_DIGEST = 32
"""How many bytes the digest has that the others begin with, so that damage shows."""

_PLACES = re.compile(rb'\["p"[^\]]*\]')
"""A `NodePath`. It cannot begin inside a string, in which quotes are escaped."""


class Parsed(NamedTuple):
    """A source as it is read for the first time."""

    file: SourceFile
    asked: frozenset[str]
    """The qualified names whose origins in other files may change the reading."""


def encoded(parsed: Parsed) -> bytes:
    """A parsed source as bytes, without its path, which depends on the working directory.

    Raises:
        TypeError: It holds something else than records of sources.
        RecursionError: It is nested too deeply.
    """
    _, _, module, *rest = _encoded(parsed.file)
    data = _dump([module, rest, sorted(parsed.asked)]).encode()
    return digest(data).encode() + data


def content_of(data: bytes) -> str:
    """The digest of what a source says, by its bytes in the cache: of all but the places in its syntax tree."""
    return digest(_PLACES.sub(b'["p"]', data[_DIGEST:]))


def decoded(data: bytes, path: str) -> Parsed:
    """The parsed source of a path from its bytes.

    Raises:
        ValueError, TypeError, LookupError, RecursionError: The bytes are none of a parsed source.
    """
    if digest(data[_DIGEST:]).encode() != data[:_DIGEST]:
        raise ValueError(path)
    module, rest, asked = json.loads(data[_DIGEST:])
    return Parsed(SourceFile(path, module, *map(_decoded, rest)), frozenset(asked))


UNREAD = "unread"
"""The content of a file that cannot be read."""


def parsed_source(data: bytes, path: str, origin: Origin) -> tuple[str, bytes | None]:
    """The digest of what a source says, and the parsed source, if there is one, from its bytes."""
    asked = Asked()
    try:
        file, problems = read(data, path, origin.module, origin.is_package, ImportContext(asked))
        found = None if problems else encoded(Parsed(file, frozenset(asked.names)))
    except Exception:  # it is read again where something asks for it, which says what is wrong
        return digest(data), None
    return (UNREAD, None) if found is None else (content_of(found), found)


_dump = json.JSONEncoder(separators=(",", ":")).encode


def _encoded(value: Any) -> Any:
    """A part of a parsed source as JSON. `_decoded` reads it back."""
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if kind in _NUMBERS:
        number, names, defaults = _NUMBERS[kind]
        values = [getattr(value, name) for name in names]
        # Most values are the defaults, which are objects of their own. At the end of a record they need not be written.
        while values and values[-1] is defaults[len(values) - 1]:
            values.pop()
        return [number, *map(_encoded, values)]
    if kind is NodePath:
        return ["p", *value.steps]
    if kind is tuple:
        return ["t", *map(_encoded, value)]
    if kind is frozenset:
        return ["s", *sorted(value)]
    if kind is dict:
        return ["d", *[[name, _encoded(item)] for name, item in value.items()]]
    if kind is RegisteredKind:
        return ["k", value.value]
    raise TypeError(f"{kind.__name__} is no record of a source")


def _decoded(item: Any) -> Any:
    if item.__class__ is not list:
        return item
    head = item[0]
    if head.__class__ is int:
        return _RECORDS[head](*map(_decoded, item[1:]))
    return _CONTAINERS[head](item[1:])


_PLAIN = frozenset({str, int, bool, float, type(None)})
_CONTAINERS: Mapping[str, Callable[[list[Any]], Any]] = {
    "t": lambda items: tuple(map(_decoded, items)),
    "p": lambda steps: NodePath(tuple(steps)),
    "s": frozenset,
    "d": lambda items: {name: _decoded(item) for name, item in items},
    "k": lambda items: RegisteredKind(items[0]),
}
_NUMBERS = {
    cls: (number, [each.name for each in fields(cls)], [getattr(each, "default", MISSING) for each in fields(cls)])
    for number, cls in enumerate(_RECORDS)
}
