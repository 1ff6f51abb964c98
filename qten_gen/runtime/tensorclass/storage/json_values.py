"""Static values as JSON and back, exactly: what comes back equals what went in, type by type.

None, bool, int, finite float, str, list, and dict with str keys are JSON as they are. What JSON has no word for is an object
with the key `$`, which names the type. Enum members are found again through the annotation of their field. Everything else is
refused. Reading accepts what writing gives, and nothing else.
"""

from __future__ import annotations

import base64
import math
import pathlib
import typing
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

import torch

from ..core.stored import Stored
from ..fields.per_item import PerItem
from ..torch_tools.pytree import Layout
from .metadata import DEEPEST, Json, StorageError, dtype_name

_TAG = "$"

FindEnum: TypeAlias = Callable[[], type[Enum] | None]
"""Finds the enum that a field is annotated with; called only where there is a member of one."""


class _CannotEncode(Exception):
    """A value that JSON cannot hold; says which part of it."""


def no_enum() -> type[Enum] | None:
    """The annotation names no enum."""
    return None


def encode(value: object, where: str, enum: FindEnum = no_enum) -> Json:
    """A static value as JSON.

    >>> encode({"size": (2, 3)}, "Batch.layout")
    {'size': {'$': 'tuple', 'value': [2, 3]}}

    Raises:
        TypeError: the value, or a part of it, is of a type that JSON cannot hold exactly.
    """
    try:
        return _encode(value, enum, 0)
    except _CannotEncode as found:
        raise TypeError(f"{where}: {found} cannot be saved as JSON; store a plain value instead") from None


def decode(value: Json, where: str, enum: FindEnum = no_enum) -> object:
    """The static value that `encode` turned into JSON; `enum` finds the class of an enum member.

    Raises:
        StorageError: it is nothing that `encode` makes.
    """
    try:
        return _decode(value, enum)
    except StorageError as error:
        raise StorageError(f"{where}: {error}") from None
    except (ValueError, TypeError, LookupError, AttributeError, RuntimeError, ArithmeticError) as error:
        raise StorageError(f"{where}: expected a value as save writes it, got {str(value)[:80]} ({error})") from None


def _hints(cls: type[Stored], name: str) -> tuple[object, ...]:
    """The evaluated annotation of a field and its parts; none where that cannot be found out."""
    try:
        hint: object = typing.get_type_hints(cls)[name]
    except (NameError, KeyError, TypeError, AttributeError):
        return ()
    return hint, *typing.get_args(hint)


def enum_of(cls: type[Stored], name: str) -> type[Enum] | None:
    """The enum that a field is annotated with, alone or beside None."""
    return next((one for one in _hints(cls, name) if isinstance(one, type) and issubclass(one, Enum)), None)


def as_annotated(value: object, cls: type[Stored], name: str) -> object:
    """A value that tensordict wrote as plain JSON: a list, where the annotation of its field says that it is a tuple."""
    if not isinstance(value, list):
        return value
    hints = _hints(cls, name)
    choices = hints if type(None) in hints else hints[:1]
    return tuple(value) if any((typing.get_origin(one) or one) is tuple for one in choices) else value


class _Type(NamedTuple):
    """A type that JSON has no word for: its name in JSON, and the way to a text or list and back."""

    tag: str
    simpler: Callable[[Any], str | list[object]]
    back: Callable[[Any], object]
    content: type = list
    """The type that `simpler` gives."""


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{name} is not a dtype")
    return found


_PATH = _Type("path", str, pathlib.Path, str)

_TYPES: dict[type, _Type] = {
    tuple: _Type("tuple", list, tuple),
    set: _Type("set", list, set),
    frozenset: _Type("frozenset", list, frozenset),
    torch.Size: _Type("Size", list, torch.Size),
    # dict() would take longer or shorter items apart silently
    dict: _Type("dict", lambda value: [*value.items()], lambda pairs: {key: of for key, of in pairs}),  # noqa: C416
    float: _Type("float", repr, float, str),
    complex: _Type("complex", lambda value: [value.real, value.imag], lambda both: complex(*both)),
    bytes: _Type(
        "bytes", lambda value: base64.b64encode(value).decode(), partial(base64.b64decode, validate=True), str
    ),
    pathlib.PosixPath: _PATH,
    pathlib.WindowsPath: _PATH,
    torch.dtype: _Type("dtype", dtype_name, _dtype, str),
    torch.device: _Type("device", str, torch.device, str),
    PerItem: _Type(
        "PerItem", lambda value: [[*value.batch_size], [*value.values()]], lambda both: PerItem(both[1], both[0])
    ),
}

_BY_TAG = {each.tag: each for each in _TYPES.values()}


def _encode(value: object, enum: FindEnum, depth: int) -> Json:
    """A value as JSON. What JSON has no form for is an object whose key `_TAG` says the type."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        # Python refuses to read a number of more than 4300 digits.
        if kind is int and cast(int, value).bit_length() > 10_000:
            raise _CannotEncode("an int of more than 3000 digits")
        return cast("Json", value)
    if kind is float and math.isfinite(cast(float, value)):
        return cast(float, value)
    if depth > DEEPEST:
        raise _CannotEncode(f"a {kind.__name__} nested in itself or deeper than {DEEPEST}")
    if kind is list:
        return [_encode(item, enum, depth + 1) for item in cast("list[object]", value)]
    # The key `_TAG` would be taken for the name of a type, so such a dict is written as pairs.
    if kind is dict and all(type(key) is str and key != _TAG for key in cast("dict[object, object]", value)):
        return {key: _encode(item, enum, depth + 1) for key, item in cast("dict[str, object]", value).items()}
    # A combination of flags has a name, and is no member.
    if isinstance(value, Enum) and enum() is kind and type(value).__members__.get(value.name) is value:
        return {_TAG: "enum", "value": value.name}
    found = _TYPES.get(PerItem if isinstance(value, PerItem) else kind)
    if found is None:
        raise _CannotEncode(f"a {kind.__module__}.{kind.__qualname__}")
    return {_TAG: found.tag, "value": _encode(found.simpler(value), enum, depth + 1)}


def _decode(value: Json, enum: FindEnum) -> object:
    """The value that `_encode` wrote."""
    if isinstance(value, list):
        return [_decode(item, enum) for item in value]
    if not isinstance(value, dict):
        if type(value) not in (bool, int, float, str, type(None)) or value in (math.inf, -math.inf) or value != value:
            raise ValueError("JSON has no such value")
        return value
    if _TAG not in value:
        return {key: _decode(item, enum) for key, item in value.items()}
    tag, content = value[_TAG], value["value"]
    if value.keys() != {_TAG, "value"} or not isinstance(tag, str):
        raise ValueError("unknown keys")
    if tag == "enum":
        found = enum()
        if found is None:
            needed = f"the annotation of the field to name the enum of {content!r}"
            raise StorageError(f"expected {needed}, but it names none")
        return found[str(content)]
    if tag not in _BY_TAG:
        raise ValueError(f"unknown type {tag!r}")
    kind = _BY_TAG[tag]
    # Only what the type is made of is taken: a tuple of a text would be one of its letters.
    if type(content) is not kind.content:
        raise ValueError(f"{tag} of a {type(content).__name__}")
    return kind.back(_decode(content, enum))


def dump_layout(cls: type[Stored], layout: Layout) -> dict[str, Json]:
    """A layout as JSON, as `torch.export.save` and `treespec_dumps` write it.

    Raises:
        TypeError: a static value is of a type that JSON cannot hold exactly.
    """
    static = [
        encode(value, f"{cls.__name__}.{name}", partial(enum_of, cls, name))
        for name, value in zip(cls._static, layout.static, strict=True)
    ]
    return {"static": static, "rest": encode((*layout._replace(static=(), hidden=None),), cls.__name__)}


def load_layout(cls: type[Stored], text: dict[str, Any]) -> Layout:
    """The layout of what `dump_layout` made."""
    static = [
        decode(value, f"{cls.__name__}.{name}", partial(enum_of, cls, name))
        for name, value in zip(cls._static, text["static"], strict=True)
    ]
    return Layout(*cast("Any", decode(text["rest"], cls.__name__)))._replace(static=tuple(static))
