"""Syntax trees of expressions over constructor arguments: `"3*dim"`, `"config.hidden_size // config.heads"`, `"hidden or 4*dim"`.

`read.dimensions` parses them for both readers. Rules check the names in them and their types, and `dimension_text` writes them as
Python. What is written means what it means in Python, because it is evaluated there.
"""

from __future__ import annotations

from collections.abc import Callable

from ..common.records import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """An integer that is not negative: `3` of `"3*dim"`. A minus sign is a `Negate` around it."""

    value: int


@dataclass(frozen=True, slots=True)
class Constant:
    """Another constant: `0.5`, `None`, `True`, `'relu'`."""

    literal: str
    """Its canonical text, which is that of `repr`."""


@dataclass(frozen=True, slots=True)
class Name:
    """A config field or a derived value: `dim` of `"3*dim"`."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: `config.hidden_size`."""

    value: Dim
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """An element: `widths[index + 1]`."""

    value: Dim
    index: Dim


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, always in parentheses: `(dim, dim)`."""

    items: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of `FUNCTIONS`: `max(dim, 64)`."""

    function: str
    arguments: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Negate:
    """A minus sign before an expression: `-dim`."""

    operand: Dim


@dataclass(frozen=True, slots=True)
class Not:
    """`not` before an expression: `not use_bias`."""

    operand: Dim


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions joined by an operator of arithmetic: `3*dim`."""

    operator: str
    """`"+"`, `"-"`, `"*"`, `"/"`, `"//"`, `"%"` or `"**"`."""
    left: Dim
    right: Dim


@dataclass(frozen=True, slots=True)
class Logical:
    """Two expressions joined by `and` or `or`, of which Python takes one: `hidden or 4*dim`."""

    operator: str
    """`"and"` or `"or"`."""
    left: Dim
    right: Dim


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison, or several in a chain: `0 < rate <= 1`."""

    left: Dim
    others: tuple[tuple[str, Dim], ...]
    """Each operator with what follows it: `(("<", Name("rate")), ("<=", Number(1)))`."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """One of two expressions: `dim if hidden is None else hidden`."""

    then: Dim
    test: Dim
    otherwise: Dim


Dim = (
    Number | Constant | Name | Attribute | Item | Tuple | Call | Negate | Not | Binary | Logical | Compare | Conditional
)
"""An expression over constructor arguments. As a dimension, it is an integer."""

FUNCTIONS = {
    "abs": (1, 1),
    "bool": (1, 1),
    "float": (1, 1),
    "getattr": (3, 3),
    "int": (1, 1),
    "len": (1, 1),
    "max": (1, None),
    "min": (1, None),
    "round": (1, 2),
    "sum": (1, 1),
}
"""The functions that an expression can call, and how many arguments each takes at least and at most."""


@dataclass(frozen=True, slots=True)
class DimError:
    """An expression that cannot be parsed: `"3*"`. It stays in the source layer, and the rule `invalid-dimension` reports
    it."""

    text: str
    """The whole expression: `3*`."""
    problem: str
    """What is wrong with it: `a number or a name is missing at the end`."""
    offset: int
    """The position of the mistake in `text`, counted from 0."""


def parts(dim: Dim) -> tuple[Dim, ...]:
    """The expressions that an expression is made of, from left to right."""
    match dim:
        case Number() | Constant() | Name():
            return ()
        case Attribute(value):
            return (value,)
        case Item(value, index):
            return value, index
        case Tuple(items) | Call(_, items):
            return items
        case Negate(operand) | Not(operand):
            return (operand,)
        case Binary(_, left, right) | Logical(_, left, right):
            return left, right
        case Compare(left, others):
            return (left, *(other for _, other in others))
        case Conditional(then, test, otherwise):
            return then, test, otherwise


def with_parts(dim: Dim, new: tuple[Dim, ...]) -> Dim:
    """The same expression made of other ones, as many as `parts` gives."""
    match dim:
        case Number() | Constant() | Name():
            return dim
        case Attribute(_, name):
            return Attribute(new[0], name)
        case Item():
            return Item(*new)
        case Tuple():
            return Tuple(new)
        case Call(function):
            return Call(function, new)
        case Negate():
            return Negate(*new)
        case Not():
            return Not(*new)
        case Binary(operator):
            return Binary(operator, *new)
        case Logical(operator):
            return Logical(operator, *new)
        case Compare(_, others):
            return Compare(new[0], tuple((operator, part) for (operator, _), part in zip(others, new[1:], strict=True)))
        case Conditional():
            return Conditional(*new)


def dim_names(dim: Dim) -> frozenset[str]:
    """The config fields and derived values that an expression reads."""
    if isinstance(dim, Name):
        return frozenset({dim.name})
    return frozenset[str]().union(*map(dim_names, parts(dim)))


def paths(dim: Dim) -> tuple[str, ...]:
    """What an expression reads, with attributes: `config.heads` and `dim` of `"config.heads * dim"`. Each once, in order."""
    path = path_of(dim)
    if path is not None:
        return (path,)
    return tuple(dict.fromkeys(path for part in parts(dim) for path in paths(part)))


def path_of(dim: Dim) -> str | None:
    """The dotted name that an expression is: `config.heads`; None for another expression."""
    match dim:
        case Name(name):
            return name
        case Attribute(value, name):
            inner = path_of(value)
            return None if inner is None else f"{inner}.{name}"
    return None


def substituted(dim: Dim, value: Callable[[str], Dim | None]) -> Dim | None:
    """The expression with each name replaced; None if there is nothing for one of them."""
    if isinstance(dim, Name):
        return value(dim.name)
    new = [found for part in parts(dim) if (found := substituted(part, value)) is not None]
    return with_parts(dim, tuple(new)) if len(new) == len(parts(dim)) else None
