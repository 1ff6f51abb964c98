"""Static values as JSON and back, exactly: what comes back equals what went in, type by type.

None, bool, int, finite float, str, list, and dict with str keys are JSON as they are. What JSON has no word for is an object
with the key `$`, which names the type. Everything else is refused. Reading accepts what writing gives, and nothing else.
"""

from __future__ import annotations

import base64
import math
import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import torch

from ..core.stored import Stored
from ..fields.per_item import PerItem
from ..torch_tools.packing import dtype_name
from ..torch_tools.pytree import Layout
from .metadata import DEEPEST, Json, StorageError

_TAG = "$"


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


def encode(value: object, where: str, depth: int = 0) -> Json:
    """A static value as JSON.

    >>> encode({"size": (2, 3)}, "Batch.layout")
    {'size': {'$': 'tuple', 'value': [2, 3]}}

    Raises:
        TypeError: the value, or a part of it, is of a type that JSON cannot hold exactly.
    """
    kind = type(value)
    if value is None or kind in (bool, str) or (kind is float and math.isfinite(cast(float, value))):
        return cast("Json", value)
    # Python refuses to read a number of more than 4300 digits.
    if kind is int and cast(int, value).bit_length() <= 10_000:
        return cast(int, value)
    found = _TYPES.get(PerItem if isinstance(value, PerItem) else kind)
    if depth <= DEEPEST and kind is list:
        return [encode(item, where, depth + 1) for item in cast("list[object]", value)]
    # The key `_TAG` would be taken for the name of a type, so such a dict is written as pairs.
    if depth <= DEEPEST and kind is dict and all(type(key) is str and key != _TAG for key in cast("Any", value)):
        return {key: encode(item, where, depth + 1) for key, item in cast("dict[str, object]", value).items()}
    if depth <= DEEPEST and found is not None:
        return {_TAG: found.tag, "value": encode(found.simpler(value), where, depth + 1)}
    name = f"a {kind.__module__}.{kind.__qualname__}"
    if kind is int:
        name = "an int of more than 3000 digits"
    elif depth > DEEPEST:
        name = f"a {kind.__name__} nested in itself or deeper than {DEEPEST}"
    raise TypeError(f"{where}: {name} cannot be saved as JSON; store a plain value instead")


def decode(value: Json, where: str, depth: int = 0) -> object:
    """The static value that `encode` turned into JSON.

    Raises:
        StorageError: it is nothing that `encode` makes.
    """
    if depth <= 3 * DEEPEST and isinstance(value, list):
        return [decode(item, where, depth + 1) for item in value]
    if depth <= 3 * DEEPEST and isinstance(value, dict) and _TAG not in value:
        return {key: decode(item, where, depth + 1) for key, item in value.items()}
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    reason = ""
    if depth <= 3 * DEEPEST and isinstance(value, dict) and value.keys() == {_TAG, "value"}:
        kind, content = _BY_TAG.get(str(value[_TAG])), value["value"]
        # Only what the type is made of is taken: a tuple of a text would be one of its letters.
        if kind is not None and type(content) is kind.content:
            inside = decode(content, where, depth + 1)
            try:
                return kind.back(inside)
            except (ValueError, TypeError, LookupError, AttributeError, RuntimeError, ArithmeticError) as error:
                reason = f" ({error})"
        elif kind is None:
            reason = f" (unknown type {value[_TAG]!r})"
    raise StorageError(f"{where}: expected a value as save writes it, got {str(value)[:80]}{reason}")


def dump_layout(cls: type[Stored], layout: Layout) -> dict[str, Json]:
    """A layout as JSON, as `torch.export.save` and `treespec_dumps` write it.

    Raises:
        TypeError: a static value is of a type that JSON cannot hold exactly.
    """
    static = [encode(value, f"{cls.__name__}.{name}") for name, value in zip(cls._static, layout.static, strict=True)]
    return {"static": static, "rest": encode((*layout._replace(static=(), hidden=None),), cls.__name__)}


def load_layout(cls: type[Stored], text: dict[str, Any]) -> Layout:
    """The layout of what `dump_layout` made."""
    static = cast("list[object]", decode(text["static"], cls.__name__))
    return Layout(*cast("Any", decode(text["rest"], cls.__name__)))._replace(static=tuple(static))
