"""Reads expressions such as `"3*dim"` and `"hidden or 4*dim"` with Python's parser, and refuses the nodes that none contains.

An expression contains numbers, strings, names, attributes, items, tuples in parentheses, arithmetic, comparisons, `and`, `or`,
`not`, `x if y else z`, and calls of `FUNCTIONS`. Rules check what the names are.
"""

from __future__ import annotations

import ast
import re
from keyword import iskeyword

from ..common.suggestions import did_you_mean
from ..model import Dim, DimError
from ..model.dimensions import canonical

_MOST_PARTS = 100
_LONGEST = 1000
_WORD = r"\w+|\S"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|0|[1-9][0-9]{0,99}")

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.Not)
_INSTEAD: dict[type[ast.AST], str] = {
    ast.BitAnd: "'&' is not allowed here: write 'and'",
    ast.BitOr: "'|' is not allowed here: write 'or'",
    ast.Slice: "':' is not allowed here: an item is one element, as in widths[0]",
    ast.List: "'[' is not allowed here: write a tuple",
    ast.Dict: "'{' is not allowed here: write a tuple",
    ast.Set: "'{' is not allowed here: write a tuple",
    ast.keyword: "a keyword is not allowed here",
    ast.Starred: "'*' is not allowed before an argument here",
}
_USUAL = "this is not allowed here: use numbers, names, operators and parentheses"

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


def parse(text: str) -> Dim | DimError:
    """Read an expression.

    >>> parse("3*dim")
    Dim(text='3 * dim')
    >>> parse("3*").problem
    'a number or a name is missing at the end'
    """
    if _PLAIN.fullmatch(text) and not iskeyword(text):  # most dimensions are one word, which needs no parser
        return Dim(text)
    try:
        return Dim(canonical(_tree(text)))
    except _Fault as fault:
        return DimError(text, fault.problem, min(fault.offset, len(text)))


class _Fault(Exception):
    """A mistake in an expression: what is wrong, and at which offset."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


def _tree(text: str) -> ast.expr:
    """The syntax tree of an expression, all of whose nodes are allowed."""
    if len(text) > _LONGEST:
        raise _Fault(f"longer than {_LONGEST} characters", _LONGEST)
    if "\\" in text:
        raise _Fault("a backslash is not allowed here", text.index("\\"))
    written = text.lstrip()  # Python's parser refuses an indented expression
    margin = len(text) - len(written)
    try:
        node = ast.parse(written, mode="eval").body
    except SyntaxError as error:
        raise _syntax_fault(error, text, margin) from None
    except (ValueError, RecursionError, MemoryError):
        raise _Fault("Python cannot read it", 0) from None
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr | ast.keyword)]
    fault = f"longer than {_MOST_PARTS} parts" if len(parts) > _MOST_PARTS else None
    at: ast.expr | ast.keyword = node
    if fault is None:
        faults = ((part, found) for part in parts if (found := _fault(part)) is not None)
        at, fault = min(faults, key=lambda found: found[0].col_offset, default=(node, None))
    if fault is not None:
        raise _Fault(fault, margin + len(written.encode()[: at.col_offset].decode()))  # the parser counts bytes
    if isinstance(node, ast.Tuple) and not _is_in_parentheses(node, written):
        problem = "a string is one expression: write each dimension as a separate argument, and a tuple in parentheses"
        raise _Fault(problem, margin)
    return node


def _is_in_parentheses(node: ast.Tuple, written: str) -> bool:
    """True if a tuple is meant: an element of a list with its text is the tuple itself."""
    listed = ast.parse(f"[{written}\n]", mode="eval").body  # a comment would hide a bracket in its line
    return isinstance(listed, ast.List) and list(map(ast.dump, listed.elts)) == [ast.dump(node)]


def _syntax_fault(error: SyntaxError, text: str, margin: int) -> _Fault:
    """The fault that Python's parser finds."""
    offset = margin + (error.offset or len(text) + 1) - 1
    if offset >= len(text.rstrip()) and error.msg == "invalid syntax":
        return _Fault("a number or a name is missing at the end", len(text))
    if text[offset : offset + 1] == "=" or "'=='" in error.msg:
        return _Fault("'=' does not compare: write '=='", text.find("=", offset))
    word = re.compile(_WORD).match(text, offset)
    if word is None or error.msg != "invalid syntax":
        return _Fault(error.msg, offset)
    follows = re.search(r"[\w)\]]\s*$", text[:offset]) is not None
    is_operand = not iskeyword(word[0]) and (word[0][0].isalnum() or word[0][0] in "_('\"")
    return _Fault(
        f"{'an operator is missing before' if follows and is_operand else 'it cannot go on with'} {word[0]!r}", offset
    )


def _fault(node: ast.expr | ast.keyword) -> str | None:
    """The fault of a part of an expression, apart from the parts of it."""
    match node:
        case ast.Constant(value=value):
            return _constant_fault(value)
        case ast.Attribute(value=ast.Constant()) | ast.Subscript(value=ast.Constant()):
            return "a constant has no attributes or items"
        case ast.Attribute(attr=name) if name.startswith("__") and not name.endswith("__"):
            return f"{name!r} has another name inside a class"
        case ast.Subscript(slice=ast.Tuple()):
            return "an item is one element, as in widths[0]"
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return _call_fault(function, len(arguments))
        case ast.Call():
            return "a method cannot be called here"
        case ast.BinOp(op=operator) | ast.UnaryOp(op=operator) if not isinstance(operator, _OPERATORS):
            return _INSTEAD.get(type(operator), _USUAL)
        case (
            ast.Name()
            | ast.Attribute()
            | ast.Subscript()
            | ast.Tuple()
            | ast.BinOp()
            | ast.UnaryOp()
            | ast.BoolOp()
            | ast.Compare()
            | ast.IfExp()
        ):
            return None
    return _INSTEAD.get(type(node), _USUAL)


def _constant_fault(value: object) -> str | None:
    if isinstance(value, float) and value == float("inf"):
        return "the number is too large"
    return None if value is None or isinstance(value, bool | int | float | str) else _USUAL


def _call_fault(function: str, count: int) -> str | None:
    if function not in FUNCTIONS:
        known = f"an expression can call {', '.join(FUNCTIONS)}"
        return f"{function} cannot be called here: {did_you_mean(function, FUNCTIONS, known)}"
    least, most = FUNCTIONS[function]
    if least <= count and (most is None or count <= most):
        return None
    takes = f"{least} argument{'s' * (least != 1)}" if least == most else f"at least {least} argument"
    takes = takes if most in (None, least) else f"{least} or {most} arguments"
    return f"{function} takes {takes}, but {count} are given"
