"""Expressions as Python: the way back from what `read.dimensions` reads."""

from __future__ import annotations

from collections.abc import Callable

from ..common.literals import double_quoted
from ..common.records import dataclass
from .dimensions import (
    Attribute,
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Dim,
    Item,
    Logical,
    Name,
    Negate,
    Not,
    Number,
    Tuple,
)

_CONDITIONAL, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(10)
"""How strongly each kind of expression binds."""

_BINARY = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "**": _POWER}


def to_python(dim: Dim, name: Callable[[str], str] = str, builtin: Callable[[str], str] = str) -> str:
    """The expression as Python text, with the parentheses that it needs, and those around `and` inside of `or`.

    >>> to_python(Binary("*", Binary("+", Name("a"), Name("b")), Number(2)), lambda field: f"self.{field}")
    '(self.a + self.b) * 2'

    Args:
        dim: The expression.
        name: How the text writes a name.
        builtin: How it writes a function, whose name a field may have.
    """
    return _Writer(name, builtin, " ").written(dim)


def in_words(dim: Dim) -> str:
    """The expression as documentation and messages show it, without spaces around the operators of arithmetic: `3*dim`."""
    return _Writer(str, str, "").written(dim)


@dataclass(frozen=True, slots=True)
class _Writer:
    """One way of writing expressions."""

    name: Callable[[str], str]
    builtin: Callable[[str], str]
    space: str
    """What is around an operator of arithmetic."""

    def written(self, dim: Dim) -> str:
        """The text of an expression."""
        match dim:
            case Number(value):
                return str(value)
            case Constant(literal):
                return double_quoted(literal)
            case Name(field):
                return self.name(field)
            case Attribute(value, attribute):
                return f"{self._inside(value, _ATOM)}.{attribute}"
            case Item(value, index):
                return f"{self._inside(value, _ATOM)}[{self.written(index)}]"
            case Tuple(items):
                comma = "," if len(items) == 1 else ""
                return f"({', '.join(map(self.written, items))}{comma})"
            case Call(function, arguments):
                return f"{self.builtin(function)}({', '.join(map(self.written, arguments))})"
            case Negate(operand):
                return f"-{self._inside(operand, _UNARY)}"
            case Not(operand):
                return f"not {self._inside(operand, _NOT)}"
            case Binary(operator, left, right):
                return self._binary(operator, left, right)
            case Logical(operator, left, right):
                weakest = _OR if operator == "or" else _AND
                return f"{self._operand(left, weakest, operator)} {operator} {self._operand(right, _NOT, operator)}"
            case Compare(left, others):
                return (
                    f"{self._inside(left, _SUM)}{''.join(f' {op} {self._inside(other, _SUM)}' for op, other in others)}"
                )
            case Conditional(then, test, otherwise):
                last = self.written(otherwise)
                return f"{self._inside(then, _OR)} if {self._inside(test, _OR)} else {last}"

    def _binary(self, operator: str, left: Dim, right: Dim) -> str:
        strength = _BINARY[operator]
        if operator == "**":  # it binds to the left more strongly than a sign, and to the right less
            return f"{self._inside(left, _ATOM)}{self.space}**{self.space}{self._inside(right, _UNARY)}"
        written = self._inside(left, strength), self._inside(right, strength + 1)
        return f"{written[0]}{self.space}{operator}{self.space}{written[1]}"

    def _operand(self, dim: Dim, at_least: int, operator: str) -> str:
        """An operand of `and` or `or`. An `and` inside of an `or` gets parentheses, though Python does not need them."""
        is_mixed = isinstance(dim, Logical) and dim.operator != operator
        return f"({self.written(dim)})" if is_mixed else self._inside(dim, at_least)

    def _inside(self, dim: Dim, at_least: int) -> str:
        """The text of an operand, in parentheses where it binds more weakly than its surroundings need."""
        return f"({self.written(dim)})" if _strength(dim) < at_least else self.written(dim)


def _strength(dim: Dim) -> int:
    """How strongly an expression binds."""
    match dim:
        case Conditional():
            return _CONDITIONAL
        case Logical(operator):
            return _OR if operator == "or" else _AND
        case Not():
            return _NOT
        case Compare():
            return _COMPARE
        case Binary(operator):
            return _BINARY[operator]
        case Negate():
            return _UNARY
    return _ATOM
