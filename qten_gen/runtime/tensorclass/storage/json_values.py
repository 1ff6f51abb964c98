"""Static values as JSON and back, exactly: what comes back equals what went in, type by type.

None, bool, int, finite float, str, list, and dict with str keys are JSON as they are. What JSON has no word for is an object
with the key `$`, which names the type. Enum members are found again through the annotation of their field. Everything else is
refused, or pickled where the caller allows it.
"""

from __future__ import annotations

import base64
import math
import pathlib
import pickle
import typing
from collections.abc import Callable
from enum import Enum
from typing import TypeAlias, cast

import torch

from ..core.stored import Stored
from ..fields.per_item import PerItem
from .storage_errors import StorageError

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

_TAG = "$"
_DEEPEST = 100

_PATHS = (pathlib.PosixPath, pathlib.WindowsPath)


class _CannotEncode(Exception):
    """A value that JSON cannot hold; says which part of it."""


FindEnum: TypeAlias = Callable[[], type[Enum] | None]
"""Finds the enum that a field is annotated with; called only where there is a member of one."""


def no_enum() -> type[Enum] | None:
    """The annotation names no enum."""
    return None


def encode(value: object, where: str, enum: FindEnum = no_enum, *, allow_pickle: bool | None = None) -> Json:
    """A static value as JSON. `allow_pickle` is None where the user has no such choice.

    >>> encode({"size": (2, 3)}, "Batch.layout")
    {'size': {'$': 'tuple', 'items': [2, 3]}}

    Raises:
        TypeError: the value, or a part of it, is of a type that JSON cannot hold exactly.
    """
    try:
        return _encode(value, enum, 0)
    except _CannotEncode as found:
        if allow_pickle:
            return {_TAG: "pickle", "data": base64.b64encode(pickle.dumps(value)).decode()}
        choice = "" if allow_pickle is None else ", or pass allow_pickle=True here and to the function that loads it"
        raise TypeError(f"{where}: {found} cannot be saved as JSON; store a plain value instead{choice}") from None


def decode(value: Json, where: str, enum: FindEnum = no_enum, *, allow_pickle: bool = False) -> object:
    """The static value that `encode` turned into JSON; `enum` finds the class of an enum member.

    Raises:
        StorageError: it is nothing that `encode` makes, or pickled and `allow_pickle` is off.
    """
    try:
        return _decode(value, enum, allow_pickle)
    except StorageError as error:
        raise StorageError(f"{where}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, RecursionError) as error:
        raise StorageError(f"{where}: expected a value as save writes it, got {str(value)[:80]} ({error})") from None


def hint_of(cls: type[Stored], name: str) -> object:
    """The evaluated annotation of a field; None where that cannot be found out."""
    try:
        return cast("object", typing.get_type_hints(cls)[name])
    except (NameError, KeyError, TypeError, AttributeError):
        return None


def enum_of(cls: type[Stored], name: str) -> type[Enum] | None:
    """The enum that a field is annotated with, alone or beside None."""
    hint = hint_of(cls, name)
    for found in (hint, *typing.get_args(hint)):
        if isinstance(found, type) and issubclass(found, Enum):
            return found
    return None


def _encode(value: object, enum: FindEnum, depth: int) -> Json:
    """A value as JSON. What JSON has no form for is an object whose key `_TAG` says the type."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        if kind is int and cast(int, value).bit_length() > 10_000:
            raise _CannotEncode("an int of more than 3000 digits")
        return cast("Json", value)
    if kind is float:
        return cast(float, value) if math.isfinite(cast(float, value)) else {_TAG: "float", "value": repr(value)}
    if depth > _DEEPEST:
        raise _CannotEncode(f"a {kind.__name__} nested in itself or deeper than {_DEEPEST}")
    if isinstance(value, PerItem):
        values = [_encode(item, enum, depth + 1) for item in value.values()]
        return {_TAG: "PerItem", "size": list(value.batch_size), "values": values}
    if kind is list:
        return [_encode(item, enum, depth + 1) for item in cast("list[object]", value)]
    if kind is dict:
        items = cast("dict[object, object]", value)
        if all(type(key) is str for key in items) and _TAG not in items:
            return {cast(str, key): _encode(item, enum, depth + 1) for key, item in items.items()}
        return {
            _TAG: "dict",
            "items": [[_encode(key, enum, depth + 1), _encode(item, enum, depth + 1)] for key, item in items.items()],
        }
    if kind in (tuple, set, frozenset, torch.Size):
        return {
            _TAG: kind.__name__,
            "items": [_encode(item, enum, depth + 1) for item in cast("tuple[object, ...]", value)],
        }
    return _encode_leaf(value, kind, enum)


def _encode_leaf(value: object, kind: type, enum: FindEnum) -> Json:
    """`_encode` of a value that holds no others."""
    if isinstance(value, Enum) and enum() is kind and kind.__members__.get(value.name) is value:
        return {_TAG: "enum", "name": value.name}
    if isinstance(value, complex) and kind is complex:
        return {_TAG: "complex", "parts": [_encode(value.real, enum, 0), _encode(value.imag, enum, 0)]}
    if isinstance(value, bytes) and kind is bytes:
        return {_TAG: "bytes", "data": base64.b64encode(value).decode()}
    if isinstance(value, range):
        return {_TAG: "range", "parts": [value.start, value.stop, value.step]}
    if kind in _PATHS:
        return {_TAG: "path", "value": str(value)}
    if isinstance(value, (torch.dtype, torch.device)):
        return {_TAG: kind.__name__, "value": str(value).removeprefix("torch.")}
    raise _CannotEncode(f"a {kind.__module__}.{kind.__qualname__}")


def _decode(value: Json, enum: FindEnum, allow_pickle: bool) -> object:
    """The value that `_encode` wrote."""
    if isinstance(value, list):
        return [_decode(item, enum, allow_pickle) for item in value]
    if not isinstance(value, dict):
        return value
    if _TAG not in value:
        return {key: _decode(item, enum, allow_pickle) for key, item in value.items()}
    tag = value[_TAG]
    if tag in ("tuple", "set", "frozenset", "Size"):
        make = {"tuple": tuple, "set": set, "frozenset": frozenset, "Size": torch.Size}[str(tag)]
        return make(cast("list[int]", _decode(_list(value, "items"), enum, allow_pickle)))
    if tag == "PerItem":
        values = [_decode(item, enum, allow_pickle) for item in _list(value, "values")]
        return PerItem(values, cast("list[int]", _list(value, "size")))
    if tag == "dict":
        pairs = cast("list[list[object]]", _decode(_list(value, "items"), enum, allow_pickle))
        return {key: item for key, item in pairs}  # noqa: C416 # dict() would take longer or shorter items apart silently
    if tag == "enum":
        found = enum()
        if found is None:
            raise StorageError(
                f"expected the annotation of the field to name the enum of {value['name']!r}, but it names none"
            )
        return found[str(value["name"])]
    if tag == "pickle":
        if not allow_pickle:
            raise StorageError(
                "the value is pickled, and a pickle can run any code; pass allow_pickle=True if you trust it"
            )
        return cast("object", pickle.loads(base64.b64decode(str(value["data"]), validate=True)))
    return _decode_leaf(str(tag), value)


def _decode_leaf(tag: str, value: dict[str, Json]) -> object:
    """The value of a tagged object that holds no other values."""
    match tag:
        case "float":
            return float(str(value["value"]))
        case "complex":
            real, imaginary = (cast(float, _decode(part, no_enum, False)) for part in _list(value, "parts"))
            return complex(real, imaginary)
        case "bytes":
            return base64.b64decode(str(value["data"]), validate=True)
        case "range":
            return range(*cast("list[int]", _list(value, "parts")))
        case "path":
            return pathlib.Path(str(value["value"]))
        case "dtype":
            found = getattr(torch, str(value["value"]))
            if not isinstance(found, torch.dtype):
                raise ValueError(f"{value['value']} is not a dtype")
            return found
        case "device":
            return torch.device(str(value["value"]))
    raise ValueError(f"unknown type {tag!r}")


def _list(value: dict[str, Json], name: str) -> list[Json]:
    found = value[name]
    if not isinstance(found, list):
        raise TypeError(f"{name} is not a list")
    return found


def as_annotated(value: object, cls: type[Stored], name: str) -> object:
    """A value that others wrote as plain JSON: a list, where the annotation of its field says that it is a tuple."""
    if not isinstance(value, list):
        return value
    hint = hint_of(cls, name)
    choices = typing.get_args(hint) if type(None) in typing.get_args(hint) else (hint,)
    return tuple(value) if any((typing.get_origin(found) or found) is tuple for found in choices) else value


def has_plain_form(value: object) -> bool:
    """Whether readers that know JSON only can make sense of a value: JSON itself, tuples, and what is named by text."""
    if isinstance(value, PerItem):
        # Items that are lists would be taken for items along one more dimension.
        listed = bool(value.batch_size) and any(isinstance(item, (list, tuple)) for item in value.values())
        return not listed and all(map(has_plain_form, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(has_plain_form, value))
    if isinstance(value, dict):
        return all(type(key) is str and has_plain_form(item) for key, item in value.items())
    return value is None or isinstance(
        value, (bool, int, float, str, Enum, pathlib.PurePath, torch.dtype, torch.device)
    )


def plain(value: object) -> Json:
    """A value for such readers: tuples as lists, paths and dtypes as text, members of enums by name."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, PerItem):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value)
