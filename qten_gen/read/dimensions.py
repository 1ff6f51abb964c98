"""Parses expressions such as `"3*dim"` and `"hidden or 4*dim"` into trees, which `model.dimension_text` writes.

An expression is Python, with its precedence, and contains numbers, strings, names, attributes, items, tuples in parentheses,
arithmetic, comparisons, `and`, `or`, `not`, `x if y else z`, and calls of `model.dimensions.FUNCTIONS`. Rules check what the
names are.
"""

from __future__ import annotations

from ast import literal_eval
from keyword import iskeyword
from math import isinf

from ..common.suggestions import did_you_mean
from ..model import Binary, Dim, DimError, Name, Negate, Number
from ..model.dimensions import FUNCTIONS, Attribute, Call, Compare, Conditional, Constant, Item, Logical, Not, Tuple
from .expression_tokens import Fault, Token, strange, tokens

_MAX_DEPTH = 30
_MAX_TOKENS = 200
_MAX_DIGITS = 1000
_OPENING = {")": "(", "]": "["}
_WORDS = frozenset({"True", "False", "None"})
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "in", "is", "not"})


def parse(text: str) -> Dim | DimError:
    """Parse an expression.

    >>> parse("3*dim")
    Binary(operator='*', left=Number(value=3), right=Name(name='dim'))
    >>> parse("3*").problem
    'a number or a name is missing at the end'
    """
    try:
        return _Parser(text).whole()
    except Fault as fault:
        return DimError(text, fault.problem, fault.offset)


class _Parser:
    """A recursive descent parser for one expression: one method for each strength of operators, the weakest first."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._position = 0
        self._depth = 0
        if len(self._tokens) > _MAX_TOKENS:
            raise Fault(f"longer than {_MAX_TOKENS} parts", self._tokens[_MAX_TOKENS].offset)

    def whole(self) -> Dim:
        """The expression that the whole text is."""
        dim = self._expression()
        if self._text == ")":
            raise Fault("')' has no matching '('", self._offset)
        if self._text == "]":
            raise Fault("']' has no matching '['", self._offset)
        if self._text == ",":
            problem = (
                "a string is one expression: write each dimension as a separate argument, and a tuple in parentheses"
            )
            raise Fault(problem, self._offset)
        if self._text == "=" or self._kind != "end":
            raise self._unexpected()
        return dim

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    @property
    def _kind(self) -> str:
        return self._token.kind

    @property
    def _text(self) -> str:
        """The text of the next operator or name; empty at the end and for a string, which is not an operator."""
        return "" if self._kind in ("string", "end", "strange") else self._token.text

    @property
    def _offset(self) -> int:
        return self._token.offset

    def _take(self) -> str:
        token = self._token
        self._position += 1
        return token.text

    def _unexpected(self) -> Fault:
        if self._kind == "strange":
            return strange(self._token)
        return Fault(f"an operator is missing before {self._token.text!r}", self._offset)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Fault(f"nested more than {_MAX_DEPTH} levels deep", self._offset)

    def _expression(self) -> Dim:
        """`x if y else z`, or anything stronger."""
        then = self._or()
        if self._text != "if":
            return then
        self._deeper()
        opened = self._offset
        self._take()
        test = self._or()
        if self._text != "else":
            raise Fault("'if' needs an 'else'", opened) if self._kind == "end" else self._unexpected()
        self._take()
        otherwise = self._expression()
        self._depth -= 1
        return Conditional(then, test, otherwise)

    def _or(self) -> Dim:
        left = self._and()
        while self._text == "or":
            self._take()
            left = Logical("or", left, self._and())
        return left

    def _and(self) -> Dim:
        left = self._not()
        while self._text == "and":
            self._take()
            left = Logical("and", left, self._not())
        return left

    def _not(self) -> Dim:
        if self._text != "not":
            return self._comparison()
        self._deeper()
        self._take()
        operand = Not(self._not())
        self._depth -= 1
        return operand

    def _comparison(self) -> Dim:
        """A comparison, or a chain of them, such as `0 < rate <= 1`."""
        left = self._sum()
        others: list[tuple[str, Dim]] = []
        while self._text in _COMPARISONS:
            operator = self._take()
            if operator == "not":
                if self._text != "in":
                    raise Fault("'in' is missing after 'not'", self._offset)
                operator = f"not {self._take()}"
            elif operator == "is" and self._text == "not":
                operator = f"is {self._take()}"
            others.append((operator, self._sum()))
        return Compare(left, tuple(others)) if others else left

    def _sum(self) -> Dim:
        left = self._product()
        while self._text in ("+", "-"):
            left = Binary(self._take(), left, self._product())
        return left

    def _product(self) -> Dim:
        left = self._unary()
        while self._text in ("*", "/", "//", "%"):
            left = Binary(self._take(), left, self._unary())
        return left

    def _unary(self) -> Dim:
        if self._text != "-":
            return self._power()
        self._deeper()
        self._take()
        operand = Negate(self._unary())
        self._depth -= 1
        return operand

    def _power(self) -> Dim:
        """A power binds its base more strongly than a sign, and its exponent less: `-a ** -b` is `-(a ** (-b))`."""
        base = self._trailed()
        if self._text != "**":
            return base
        self._deeper()
        self._take()
        power = Binary("**", base, self._unary())
        self._depth -= 1
        return power

    def _trailed(self) -> Dim:
        """An atom with what follows it: attributes, items and arguments."""
        started = self._token
        found = self._atom()
        while self._text in (".", "[", "("):
            if isinstance(found, Number | Constant):
                raise Fault(f"{started.text} has no attributes or items", self._offset)
            match self._take():
                case ".":
                    found = Attribute(found, self._name("after '.'"))
                case "[":
                    found = self._item(found)
                case _:
                    found = self._call(found, started)
        return found

    def _atom(self) -> Dim:
        """A constant, a name, or an expression in parentheses."""
        match self._kind:
            case "number":
                return self._number()
            case "float":
                return self._float()
            case "string":
                return Constant(repr(literal_eval(self._take())))
            case "name" if self._text in _WORDS:
                return Constant(self._take())
            case "name" if self._text not in ("if", "else", "and", "or", "in", "is", "not"):
                return Name(self._name(""))
            case "strange":
                raise strange(self._token)
        if self._text == "(":
            return self._group()
        if self._text == "not":
            raise Fault("'not' needs parentheses here: (not x)", self._offset)
        where = f"before {self._token.text!r}" if self._token.text else "at the end"
        raise Fault(f"a number or a name is missing {where}", self._offset)

    def _number(self) -> Dim:
        digits = self._text
        if digits.endswith("_") or "__" in digits or (digits[0] == "0" and digits.strip("0_")):
            raise Fault(f"{digits!r} is not a decimal integer", self._offset)
        if len(digits) > _MAX_DIGITS:
            raise Fault("the number is too long", self._offset)
        return Number(int(self._take()))

    def _float(self) -> Dim:
        try:
            value = float(self._text)
        except ValueError:
            raise Fault(f"{self._text!r} is not a number", self._offset) from None
        if isinf(value):
            raise Fault("the number is too large", self._offset)
        self._take()
        return Constant(repr(value))

    def _name(self, where: str) -> str:
        if self._kind != "name":
            raise Fault(f"a name is missing {where}", self._offset)
        if iskeyword(self._text):
            raise Fault(f"{self._text!r} is a Python keyword", self._offset)
        if not self._text.isidentifier():
            raise Fault(f"{self._text!r} is not a valid name", self._offset)
        if where and self._text.startswith("__") and not self._text.endswith("__"):
            raise Fault(f"{self._text!r} has another name inside a class", self._offset)
        return self._take()

    def _item(self, value: Dim) -> Dim:
        opened = self._tokens[self._position - 1].offset
        self._deeper()
        index = self._expression()
        self._close("]", opened)
        return Item(value, index)

    def _call(self, function: Dim, started: Token) -> Dim:
        """The call of a function, from its arguments on."""
        opened = self._tokens[self._position - 1].offset
        if not isinstance(function, Name) or function.name not in FUNCTIONS:
            if not isinstance(function, Name):
                raise Fault("a method cannot be called here", opened)
            known = f"an expression can call {', '.join(FUNCTIONS)}"
            problem = f"{function.name} cannot be called here: {did_you_mean(function.name, FUNCTIONS, known)}"
            raise Fault(problem, started.offset)
        self._deeper()
        arguments = self._until(")", opened)
        least, most = FUNCTIONS[function.name]
        if len(arguments) < least or (most is not None and len(arguments) > most):
            count = f"{least} argument{'s' * (least != 1)}" if least == most else f"at least {least} argument"
            count = count if most in (None, least) else f"{least} or {most} arguments"
            raise Fault(f"{function.name} takes {count}, but {len(arguments)} are given", started.offset)
        return Call(function.name, arguments)

    def _group(self) -> Dim:
        """An expression in parentheses, or a tuple. One that is never closed is reported where it opens."""
        opened = self._offset
        self._deeper()
        self._take()
        if self._text == ")":
            self._close(")", opened)
            return Tuple(())
        inner = self._expression()
        if self._text != ",":
            self._close(")", opened)
            return inner
        self._take()
        return Tuple((inner, *self._until(")", opened)))

    def _until(self, closing: str, opened: int) -> tuple[Dim, ...]:
        """Expressions separated by commas, up to a closing bracket."""
        found: list[Dim] = []
        while self._text != closing:
            found.append(self._expression())
            if self._text != ",":
                break
            self._take()
        self._close(closing, opened)
        return tuple(found)

    def _close(self, closing: str, opened: int) -> None:
        if self._kind == "end":
            raise Fault(f"{_OPENING[closing]!r} is never closed", opened)
        if self._text != closing:
            raise self._unexpected()
        self._take()
        self._depth -= 1
