"""The structure of an object as JSON, which `torch.export.save` and `treespec_dumps` write, and the way back."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from ..core.stored import Stored
from ..torch_tools.layouts import Layout
from .json_values import Json, decode, encode, enum_of


def dumped(cls: type[Stored], layout: Layout) -> dict[str, Json]:
    """A layout as JSON.

    Raises:
        TypeError: a static value is of a type that JSON cannot hold exactly.
    """
    static = [
        encode(value, f"{cls.__name__}.{name}", partial(enum_of, cls, name))
        for name, value in zip(cls._static, layout.static, strict=True)
    ]
    return {"static": static, "rest": encode((*layout._replace(static=(), hidden=None),), cls.__name__)}


def loaded(cls: type[Stored], text: dict[str, Any]) -> Layout:
    """The layout of what `dumped` made."""
    static = [
        decode(value, f"{cls.__name__}.{name}", partial(enum_of, cls, name))
        for name, value in zip(cls._static, text["static"], strict=True)
    ]
    return Layout(*cast("Any", decode(text["rest"], cls.__name__)))._replace(static=tuple(static))
