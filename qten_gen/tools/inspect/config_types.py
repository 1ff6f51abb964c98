"""Turns the text or JSON of one argument into a value of the type that its annotation says."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import enum
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Literal

import torch

from ...common.suggestions import nearest

EMPTY = object()
"""The annotation of a parameter that has none."""


class Text(str):
    """A value as it stands on the command line, which may mean a number; a `str` is a string of a JSON document."""


class Unfit(Exception):
    """A value that is not of a type; the text says what was expected."""


Build = Callable[[type, Mapping[str, object], str], object]
"""Makes an object of a class from the arguments of its constructor; takes the path of the argument for messages."""


def convert(raw: object, kind: object, path: str, build: Build, default: object = EMPTY) -> object:
    """The value that `raw` means for a parameter annotated with `kind`, whose default serves where it has no annotation.

    Raises:
        Unfit: it is not of that type.
    """
    if kind in (EMPTY, typing.Any, object) or isinstance(kind, (str, typing.TypeVar, typing.ForwardRef)):
        return _guessed(raw, path, default)
    kind = _plain(kind)
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _of_union(raw, typing.get_args(kind), path, build)
    if origin is Literal:
        return _of_literal(raw, typing.get_args(kind))
    if kind in (None, type(None)):
        _refuse_value(raw)
        return None
    if kind in _SCALARS:
        return _SCALARS[kind](raw)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _of_enum(raw, kind)
    found = origin or kind
    if found in _SEQUENCES:
        return _of_sequence(raw, found, typing.get_args(kind), path, build)
    if found in _MAPPINGS:
        return _of_mapping(raw, typing.get_args(kind), path, build)
    if found is type or found is collections.abc.Callable:
        return _imported(raw)
    if isinstance(found, type):
        return _object(raw, found, path, build)
    return _guessed(raw, path, default)


def _plain(kind: object) -> object:
    """A type without `Annotated`, `NewType` and `Final` around it."""
    while True:
        if isinstance(kind, typing.NewType):
            kind = kind.__supertype__
        elif typing.get_origin(kind) in (typing.Annotated, typing.Final):
            kind = typing.get_args(kind)[0]
        else:
            return getattr(kind, "__value__", kind) if type(kind).__name__ == "TypeAliasType" else kind


def shown(raw: object) -> str:
    """What a message calls a value: `'many'`, or JSON as written."""
    return repr(str(raw)) if isinstance(raw, str) else json.dumps(raw, default=str)


def type_name(kind: object) -> str:
    """What a message calls a type: `int`, `list[int]`, `torch.dtype`."""
    if isinstance(kind, type) and not typing.get_args(kind):
        if kind is type(None):
            return "None"
        return kind.__qualname__ if kind.__module__ != "torch" else f"torch.{kind.__qualname__}"
    return str(kind).replace("typing.", "").replace("NoneType", "None")


def _int(raw: object) -> int:
    if isinstance(raw, Text):
        try:
            return int(raw, 0)
        except ValueError:
            raise Unfit(f"expected an int, got {shown(raw)}") from None
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    raise Unfit(f"expected an int, got {shown(raw)}")


def _float(raw: object) -> float:
    if isinstance(raw, Text):
        try:
            return float(raw)
        except ValueError:
            raise Unfit(f"expected a float, got {shown(raw)}") from None
    if isinstance(raw, (int, float)) and not isinstance(raw, bool):
        return float(raw)
    raise Unfit(f"expected a float, got {shown(raw)}")


def _bool(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, Text) and raw.lower() in ("true", "false"):
        return raw.lower() == "true"
    raise Unfit(f"expected true or false, got {shown(raw)}")


def _str(raw: object) -> str:
    if isinstance(raw, str):
        return str(raw)
    raise Unfit(f"expected a string, got {shown(raw)}")


def _refuse_value(raw: object) -> None:
    """Raise the error of anything but none."""
    if not (raw is None or (isinstance(raw, Text) and raw.lower() in ("none", "null"))):
        raise Unfit(f"expected none, got {shown(raw)}")


def _dtype(raw: object) -> torch.dtype:
    if isinstance(raw, str):
        return dtype_called(raw)
    raise Unfit(f"expected a dtype such as bfloat16, got {shown(raw)}")


def dtype_called(name: str) -> torch.dtype:
    """The dtype of a name: `bfloat16` or `torch.bfloat16`.

    Raises:
        Unfit: torch has none of that name.
    """
    found = getattr(torch, name.removeprefix("torch."), None)
    if isinstance(found, torch.dtype):
        return found
    close = nearest(name, [other for other in dir(torch) if isinstance(getattr(torch, other, None), torch.dtype)])
    raise Unfit(f"expected a dtype such as bfloat16, got {name!r}{f'; did you mean {close}?' if close else ''}")


def _device(raw: object) -> torch.device:
    try:
        return torch.device(str(raw))
    except RuntimeError:
        raise Unfit(f"expected a device such as cuda:0, got {shown(raw)}") from None


_SCALARS: Mapping[object, Callable[[object], object]] = {
    int: _int,
    float: _float,
    bool: _bool,
    str: _str,
    torch.dtype: _dtype,
    torch.device: _device,
}

_SEQUENCES: Mapping[object, Callable[..., object]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    torch.Size: torch.Size,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
}

_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def _strictness(kind: object) -> int:
    """The place of a member of a union among those that are tried: text is an int before it is a string."""
    kind = _plain(kind)
    order = (type(None), bool, int, float, torch.dtype, torch.device)
    if kind in order:
        return order.index(kind)
    return 99 if kind is str else 50


def _of_union(raw: object, members: tuple[object, ...], path: str, build: Build) -> object:
    """A value of one of several types: the strictest that accepts it."""
    problems: dict[object, Unfit] = {}
    for member in sorted(members, key=_strictness):
        try:
            return convert(raw, member, path, build)
        except Unfit as error:
            problems[member] = error
    present = [member for member in members if member is not type(None)]
    if len(present) == 1:
        raise problems[present[0]]
    raise Unfit(f"expected {' or '.join(type_name(member) for member in members)}, got {shown(raw)}")


def _of_literal(raw: object, allowed: tuple[object, ...]) -> object:
    for value in allowed:
        if raw == value and type(raw) is type(value):
            return value
        if isinstance(raw, Text) and str(raw) == str(value):
            return value
    raise Unfit(f"expected one of {', '.join(map(repr, allowed))}, got {shown(raw)}")


def _of_enum(raw: object, kind: type[enum.Enum]) -> enum.Enum:
    """A member by name or value."""
    for member in kind:
        if raw == member.value or (isinstance(raw, str) and raw in (member.name, str(member.value))):
            return member
    raise Unfit(f"expected one of {', '.join(member.name for member in kind)}, got {shown(raw)}")


def _of_sequence(raw: object, kind: object, items: tuple[object, ...], path: str, build: Build) -> object:
    """`[1, 2]` as JSON, or `1,2` on the command line."""
    make = _SEQUENCES[kind]
    values = _listed(raw) if isinstance(raw, Text) else raw
    if not isinstance(values, list):
        raise Unfit(f"expected a list such as [1, 2], got {shown(raw)}")
    if kind is tuple and items and items[-1] is not Ellipsis:
        if len(values) != len(items):
            raise Unfit(f"expected {len(items)} values, got {len(values)}: {shown(raw)}")
        return tuple(convert(value, item, path, build) for value, item in zip(values, items, strict=True))
    item = int if kind is torch.Size else items[0] if items else EMPTY
    return make(convert(value, item, path, build) for value in values)


def _listed(text: Text) -> object:
    if text.lstrip()[:1] in ("[", "("):
        try:
            found = ast.literal_eval(text)
        except (SyntaxError, ValueError):
            found = _json(text)
        return list(found) if isinstance(found, (list, tuple)) else found
    return [Text(part.strip()) for part in text.split(",")] if text.strip() else []


def _of_mapping(raw: object, items: tuple[object, ...], path: str, build: Build) -> object:
    values = _json(raw) if isinstance(raw, Text) else raw
    if not isinstance(values, dict):
        raise Unfit(f'expected an object such as {{"a": 1}}, got {shown(raw)}')
    key, item = items if len(items) == 2 else (EMPTY, EMPTY)
    # The keys of JSON are strings whatever they mean.
    return {
        convert(Text(name), key, path, build): convert(value, item, f"{path}.{name}", build)
        for name, value in values.items()
    }


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        raise Unfit(f"expected JSON, got {shown(text)}") from None


def _imported(raw: object) -> object:
    """A class or function that a name means: `torch.nn:GELU`."""
    from importlib import import_module

    module, _, name = str(raw).partition(":") if ":" in str(raw) else str(raw).rpartition(".")
    if not isinstance(raw, str) or not module:
        raise Unfit(f"expected a class or function such as torch.nn:GELU, got {shown(raw)}")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        raise Unfit(f"expected a class or function such as torch.nn:GELU; there is no {raw}") from None


def _object(raw: object, kind: type, path: str, build: Build) -> object:
    """An object of a class, such as a configuration, from the arguments of its constructor."""
    values = _json(raw) if isinstance(raw, Text) and raw.lstrip()[:1] == "{" else raw
    if isinstance(values, Mapping):
        return build(kind, values, path)
    raise Unfit(
        f"expected a {type_name(kind)}: write its arguments as {path}.NAME=VALUE, or as a JSON object; got {shown(raw)}"
    )


def _guessed(raw: object, path: str, default: object) -> object:
    """What a value means without an annotation: of the type of the default if it has that, else what it looks like."""
    if not isinstance(raw, Text):
        return raw
    if path.rpartition(".")[2] == "dtype" or isinstance(default, torch.dtype):
        return None if raw.lower() == "none" else dtype_called(raw)
    if type(default) in (bool, int, float, str):
        try:
            return _SCALARS[type(default)](raw)
        except Unfit:
            if not isinstance(default, (int, float)) or raw.lower() in ("true", "false"):
                raise
    if raw.lower() in ("true", "false", "none", "null"):
        return {"true": True, "false": False}.get(raw.lower())
    for read in (json.loads, ast.literal_eval):
        try:
            return read(raw)
        except (ValueError, SyntaxError):
            continue
    return str(raw)


def is_builtin(kind: object) -> bool:
    """Whether a class is one of Python's own, whose constructor says nothing about its arguments."""
    return isinstance(kind, type) and kind.__module__ == builtins.__name__
