"""What the methods of a class in a running program assign to attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType

_SETTING = ("setattr", "__dict__", "vars")
"""What the code of a method mentions that sets attributes by names which it does not show."""
_GENERATED = ("<string>", "<attrs generated")
"""The files of functions that a decorator such as `dataclass` makes."""


def methods_of(namespace: Mapping[str, object]) -> Iterator[FunctionType]:
    """The functions that the methods, class methods and properties of a class body are."""
    for value in namespace.values():
        function = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        if isinstance(function, FunctionType) and not function.__code__.co_filename.startswith(_GENERATED):
            yield function


def assigned_by(function: FunctionType) -> Iterator[str]:
    """The attributes that the code of a function may assign."""
    from dis import get_instructions

    for instruction in get_instructions(function.__code__):
        if instruction.opname == "STORE_ATTR" and isinstance(instruction.argval, str):
            yield instruction.argval


def sets_any(function: FunctionType) -> bool:
    """Whether a function may set attributes whose names its code does not show."""
    return any(word in function.__code__.co_names for word in _SETTING)
