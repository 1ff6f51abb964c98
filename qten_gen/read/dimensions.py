"""Parses dimension expressions such as `"3*dim"` into trees, which `emit.dimensions` writes.

An expression contains integers, names, `+ - * //`, unary minus and parentheses, with the precedence of Python. The rule
`unknown-dimension` checks whether the names are config fields.
"""

from __future__ import annotations

import re
from keyword import iskeyword

from ..model import Binary, Dim, DimError, Name, Negate, Number

_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9][0-9_]*)|(?P<name>[^\W\d]\w*)|(?P<operator>//|[-+*()]))")
_SPACE = re.compile(r"\s*")
_MAX_DEPTH = 100


class _Fault(Exception):
    """A syntax error in an expression: what is wrong, and at which offset."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


def parse(text: str) -> Dim | DimError:
    """Parse a dimension expression.

    >>> parse("3*dim")
    Binary(operator='*', left=Number(value=3), right=Name(name='dim'))
    >>> parse("3*").problem
    'a number or a name is missing at the end'
    """
    try:
        return _Parser(text).whole()
    except _Fault as fault:
        return DimError(text, fault.problem, fault.offset)


class _Parser:
    """A recursive descent parser for one expression: sum, product, unary, atom."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._depth = 0
        self._offset = 0
        self._advance()

    def whole(self) -> Dim:
        dim = self._sum()
        if self._token == ")":
            raise _Fault("')' has no matching '('", self._offset)
        if self._token:
            raise _Fault(f"an operator is missing before {self._token!r}", self._offset)
        return dim

    def _advance(self) -> None:
        """Move to the next token. An empty token marks the end."""
        match = _TOKEN.match(self._text, self._offset)
        if match is not None:
            self._kind = match.lastgroup
            self._offset, self._after = match.span(match.lastgroup or 0)
            self._token = self._text[self._offset : self._after]
            return
        rest = _SPACE.match(self._text, self._offset)
        self._offset = rest.end() if rest else self._offset
        if self._offset < len(self._text):
            raise _Fault(self._strange(self._text[self._offset]), self._offset)
        self._kind, self._token, self._after = None, "", self._offset

    @staticmethod
    def _strange(character: str) -> str:
        if character == "/":
            return "'/' is not integer division: write '//'"
        if character == ",":
            return "a string is one dimension: write each dimension as a separate argument"
        return f"{character!r} is not allowed here: use integers, names, + - * // and parentheses"

    def _take(self) -> str:
        token = self._token
        self._offset = self._after
        self._advance()
        return token

    def _sum(self) -> Dim:
        left = self._product()
        while self._token in ("+", "-"):
            left = Binary(self._take(), left, self._product())
        return left

    def _product(self) -> Dim:
        left = self._unary()
        while self._token in ("*", "//"):
            left = Binary(self._take(), left, self._unary())
        return left

    def _unary(self) -> Dim:
        if self._token != "-":
            return self._atom()
        self._deeper()
        self._take()
        operand = Negate(self._unary())
        self._depth -= 1
        return operand

    def _atom(self) -> Dim:
        """A number, a name, or an expression in parentheses."""
        if self._kind == "number":
            digits = self._token
            if digits.endswith("_") or "__" in digits or (digits[0] == "0" and digits.strip("0_")):
                raise _Fault(f"{digits!r} is not a decimal integer", self._offset)
            return Number(int(self._take()))
        if self._kind == "name":
            if iskeyword(self._token):
                raise _Fault(f"{self._token!r} is a Python keyword", self._offset)
            if not self._token.isidentifier():
                raise _Fault(f"{self._token!r} is not a valid name", self._offset)
            return Name(self._take())
        if self._token == "(":
            return self._group()
        where = f"before {self._token!r}" if self._token else "at the end"
        raise _Fault(f"a number or a name is missing {where}", self._offset)

    def _group(self) -> Dim:
        """An expression in parentheses. One that is never closed is reported where it opens."""
        opened = self._offset
        self._deeper()
        self._take()
        inner = self._sum()
        if not self._token:
            raise _Fault("'(' is never closed", opened)
        if self._token != ")":
            raise _Fault(f"an operator is missing before {self._token!r}", self._offset)
        self._take()
        self._depth -= 1
        return inner

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Fault(f"nested more than {_MAX_DEPTH} levels deep", self._offset)
