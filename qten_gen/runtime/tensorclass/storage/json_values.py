"""Static values as JSON and back, exactly: what comes back equals what went in, type by type.

None, bool, int, finite float, str, list, and dict with str keys are JSON as they are. What JSON has no word for is an object
with the key `$`, which names the type. Enum members are found again through the annotation of their field. Everything else is
refused, or pickled where the caller allows it. Reading accepts what writing gives, and nothing else.
"""

from __future__ import annotations

import base64
import math
import pathlib
import pickle
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


def encode(value: object, where: str, enum: FindEnum = no_enum, *, allow_pickle: bool | None = None) -> Json:
    """A static value as JSON. `allow_pickle` is None where the user has no such choice.

    >>> encode({"size": (2, 3)}, "Batch.layout")
    {'size': {'$': 'tuple', 'value': [2, 3]}}

    Raises:
        TypeError: the value, or a part of it, is of a type that JSON cannot hold exactly.
    """
    try:
        return _encode(value, enum, 0)
    except _CannotEncode as found:
        if allow_pickle:
            return {_TAG: "pickle", "value": base64.b64encode(pickle.dumps(value)).decode()}
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
    except Exception as error:  # a pickle can raise any
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


class _Type(NamedTuple):
    """A type that JSON has no word for: its name in JSON, and the way to a text or list and back."""

    tag: str
    simpler: Callable[[Any], str | list[object]]
    back: Callable[[Any], object]
    content: type = list
    """The type that `simpler` gives."""
    items: tuple[type, ...] = (object,)
    """The types of the items of a list."""


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{name} is not a dtype")
    return found


def _infinite(text: str) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text} is a number of JSON")
    return float(text)


_PATH = _Type("path", str, pathlib.Path, str)

_TYPES: dict[type, _Type] = {
    tuple: _Type("tuple", list, tuple),
    set: _Type("set", list, set),
    frozenset: _Type("frozenset", list, frozenset),
    torch.Size: _Type("Size", list, torch.Size, items=(int,)),
    # dict() would take longer or shorter items apart silently
    dict: _Type("dict", lambda value: [*value.items()], lambda pairs: {key: of for key, of in pairs}, items=(tuple,)),  # noqa: C416
    float: _Type("float", repr, _infinite, str),
    complex: _Type("complex", lambda value: [value.real, value.imag], lambda both: complex(*both), items=(float,)),
    bytes: _Type(
        "bytes", lambda value: base64.b64encode(value).decode(), partial(base64.b64decode, validate=True), str
    ),
    range: _Type("range", lambda value: [value.start, value.stop, value.step], lambda of: range(*of), items=(int,)),
    pathlib.PosixPath: _PATH,
    pathlib.WindowsPath: _PATH,
    torch.dtype: _Type("dtype", dtype_name, _dtype, str),
    torch.device: _Type("device", str, torch.device, str),
    PerItem: _Type(
        "PerItem",
        lambda value: [[*value.batch_size], [*value.values()]],
        lambda both: PerItem(*both[::-1]),
        items=(list,),
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


def _decode(value: Json, enum: FindEnum, allow_pickle: bool) -> object:
    """The value that `_encode` wrote."""
    if isinstance(value, list):
        return [_decode(item, enum, allow_pickle) for item in value]
    if not isinstance(value, dict):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("JSON has no such number")
        return value
    if _TAG not in value:
        return {key: _decode(item, enum, allow_pickle) for key, item in value.items()}
    tag, content = value[_TAG], value["value"]
    if value.keys() != {_TAG, "value"} or not isinstance(tag, str):
        raise ValueError("unknown keys")
    if tag == "enum":
        found = enum()
        if found is None:
            needed = f"the annotation of the field to name the enum of {content!r}"
            raise StorageError(f"expected {needed}, but it names none")
        return found[str(content)]
    if tag == "pickle":
        if not allow_pickle:
            trust = "a pickle can run any code; pass allow_pickle=True if you trust it"
            raise StorageError(f"the value is pickled, and {trust}")
        return cast("object", pickle.loads(base64.b64decode(str(content), validate=True)))
    if tag not in _BY_TAG:
        raise ValueError(f"unknown type {tag!r}")
    return _of_type(_BY_TAG[tag], content, enum, allow_pickle)


def _of_type(kind: _Type, content: Json, enum: FindEnum, allow_pickle: bool) -> object:
    """A value of a type that JSON has no word for. Only what the type is made of is taken: a range could be made long."""
    if type(content) is not kind.content:
        raise ValueError(f"{kind.tag} of a {type(content).__name__}")
    made = _decode(content, enum, allow_pickle)
    if isinstance(made, list) and not all(isinstance(item, kind.items) for item in made):
        raise ValueError(f"{kind.tag} of other items")
    return kind.back(made)


def as_annotated(value: object, cls: type[Stored], name: str) -> object:
    """A value that others wrote as plain JSON: a list, where the annotation of its field says that it is a tuple."""
    if not isinstance(value, list):
        return value
    hint = hint_of(cls, name)
    choices = typing.get_args(hint) if type(None) in typing.get_args(hint) else (hint,)
    return tuple(value) if any((typing.get_origin(found) or found) is tuple for found in choices) else value


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
