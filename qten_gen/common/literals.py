"""Decides which Python values generated code writes as literals. Both readers, of text and of objects, use it."""

from __future__ import annotations

from ast import literal_eval
from cmath import isfinite

LONGEST_DEFAULT = 50
"""The length of the defaults that stubs show."""

_SCALARS = (type(None), bool, int, float, complex, str, bytes)


def literal_of(value: object) -> str | None:
    """The canonical literal of an immutable value; None if it has none.

    >>> literal_of(1e-3), literal_of((1, "a")), literal_of([]), literal_of(float("inf"))
    ('0.001', "(1, 'a')", None, None)
    """
    if not _is_constant(value):
        return None
    try:
        text = repr(value)
        if type(value) is tuple:
            literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None  # an integer with more digits than Python writes, or more nested tuples than it reads
    return text


def _is_constant(value: object) -> bool:
    if type(value) is tuple:
        return all(_is_constant(item) for item in value)
    if isinstance(value, float | complex) and not isfinite(value):
        return False  # its repr is a name
    return type(value) in _SCALARS


def double_quoted(literal: str) -> str:
    """The canonical text of a literal, a string in double quotes where that needs no escapes.

    >>> double_quoted("'train'"), double_quoted("0.001")
    ('"train"', '0.001')
    """
    return f'"{literal[1:-1]}"' if literal[:1] == "'" and '"' not in literal else literal
