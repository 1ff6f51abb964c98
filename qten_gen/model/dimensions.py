"""Dimensions: integer expressions over config fields, and those that could not be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A non-negative integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a config field."""

    name: str


@dataclass(frozen=True, slots=True)
class Negate:
    """A minus sign before an expression."""

    operand: Dim


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions joined by one of `+ - * //`."""

    operator: str
    left: Dim
    right: Dim


Dim = Number | Name | Negate | Binary
"""A dimension: an integer expression over config fields."""


@dataclass(frozen=True, slots=True)
class DimError:
    """A dimension that could not be read: its text, what is wrong, and the offset of the fault in the text."""

    text: str
    problem: str
    offset: int


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
