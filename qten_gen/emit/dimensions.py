"""Dimensions as Python: the way back from what `read.dimensions` reads."""

from __future__ import annotations

from collections.abc import Callable

from ..model import Binary, Dim, Name, Negate, Number

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "//": 2}
_UNARY = 3


def to_python(dim: Dim, name: Callable[[str], str] = str) -> str:
    """The expression as Python text, with no more parentheses than needed; `name` spells a config field.

    >>> to_python(Binary("*", Binary("+", Name("a"), Name("b")), Number(2)), lambda field: f"self.{field}")
    '(self.a + self.b) * 2'
    """
    match dim:
        case Number(value):
            return str(value)
        case Name(field):
            return name(field)
        case Negate(operand):
            return f"-{_inside(operand, _UNARY, name)}"
        case Binary(operator, left, right):
            strength = _PRECEDENCE[operator]
            return f"{_inside(left, strength, name)} {operator} {_inside(right, strength + 1, name)}"


def _inside(dim: Dim, at_least: int, name: Callable[[str], str]) -> str:
    """The text of an operand, in parentheses where it binds more weakly than its surroundings need."""
    text = to_python(dim, name)
    match dim:
        case Binary(operator) if _PRECEDENCE[operator] < at_least:
            return f"({text})"
    return text
