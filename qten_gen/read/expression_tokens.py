"""Splits an expression such as `"config.width // 2"` into tokens, and says which characters cannot be in one."""

from __future__ import annotations

import re

from ..common.records import dataclass

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<float>(?:[0-9][0-9_]*)?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)? | [0-9][0-9_]*(?:\.(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))
    | (?P<number>[0-9][0-9_]*)
    | (?P<name>[^\W\d]\w*)
    | (?P<string>'[^'\\\n]*'|"[^"\\\n]*")
    | (?P<operator>\*\*|//|==|!=|<=|>=|[-+*/%()<>.,\[\]])
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")

_INSTEAD = {
    "=": "'=' does not compare: write '=='",
    "&": "'&' is not allowed here: write 'and'",
    "|": "'|' is not allowed here: write 'or'",
    "!": "'!' is not allowed here: write 'not', or '!='",
    ":": "':' is not allowed here: an item is one element, as in widths[0]",
    "{": "'{' is not allowed here: write a tuple",
    "'": "the string that starts here does not end, or has a backslash in it",
    '"': "the string that starts here does not end, or has a backslash in it",
}


class Fault(Exception):
    """A syntax error in an expression: what is wrong, and at which offset."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Token:
    """A part of an expression. Its text is empty at the end."""

    kind: str
    """`"number"`, `"float"`, `"name"`, `"string"`, `"operator"` or `"end"`."""
    text: str
    offset: int


def tokens(text: str) -> list[Token]:
    """The tokens of an expression, the end among them.

    Raises:
        Fault: it contains a character that no token starts with.
    """
    found: list[Token] = []
    offset = 0
    while True:
        match = _TOKEN.match(text, offset)
        if match is None:
            rest = _SPACE.match(text, offset)
            offset = rest.end() if rest else offset
            kind = "end" if offset == len(text) else "strange"
            found.append(Token(kind, text[offset : offset + 1], offset))
            return found
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind], match.start(kind)))
        offset = match.end()


def strange(token: Token) -> Fault:
    """What is wrong with a character that is not part of any token."""
    usual = f"{token.text!r} is not allowed here: use numbers, names, operators and parentheses"
    return Fault(_INSTEAD.get(token.text, usual), token.offset)
