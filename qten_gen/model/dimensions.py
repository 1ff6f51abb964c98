"""Syntax trees of dimensions, the sizes in `param("3*dim", 8)`.

`read.dimensions` parses them for both readers. Rules check the config fields that they mention, and `emit.dimensions` writes them
as Python.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """An integer that is not negative: `3` of `"3*dim"`. A minus sign is a `Negate` around it."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """A config field: `dim` of `"3*dim"`."""

    name: str


@dataclass(frozen=True, slots=True)
class Negate:
    """A minus sign before an expression: `-dim`."""

    operand: Dim


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions joined by an operator: `3*dim`."""

    operator: str
    """`"+"`, `"-"`, `"*"` or `"//"`."""
    left: Dim
    right: Dim


Dim = Number | Name | Negate | Binary
"""A dimension: an integer expression over config fields."""


@dataclass(frozen=True, slots=True)
class DimError:
    """A dimension that cannot be parsed: `"3*"`. It stays in the source layer, and the rule `malformed-dimension` reports it."""

    text: str
    """The whole expression: `3*`."""
    problem: str
    """What is wrong with it: `a number or a name is missing at the end`."""
    offset: int
    """The position of the mistake in `text`, counted from 0."""


def dim_names(dim: Dim) -> frozenset[str]:
    """The config fields that a dimension reads."""
    match dim:
        case Number():
            return frozenset()
        case Name(name):
            return frozenset({name})
        case Negate(operand):
            return dim_names(operand)
        case Binary(_, left, right):
            return dim_names(left) | dim_names(right)
