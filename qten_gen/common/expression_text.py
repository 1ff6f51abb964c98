"""One text for each expression over constructor arguments, however it is spaced: `3 * dim` for `"3*dim"`."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from keyword import iskeyword

_PLAIN = r"[\w .+\-*/%()\[\]<>=!,]{1,100}"
_OTHER_NUMBERS = r"\b\d+[^\W\d]|\b0\d"


@lru_cache(maxsize=1024)
def expression_text(text: str) -> str:
    """The canonical text of an expression that is valid Python.

    >>> expression_text("3*dim"), expression_text("( a+b )*2"), expression_text("dim")
    ('3 * dim', '(a + b) * 2', 'dim')

    Raises:
        SyntaxError: it is not.
    """
    return text if text.isidentifier() and not iskeyword(text) else ast.unparse(ast.parse(text, mode="eval"))


def is_plain(text: str) -> bool:
    """Whether an expression has nothing in it that Python may read otherwise than the language of expressions does.

    >>> is_plain("3*dim"), is_plain("dim # half"), is_plain("0x10")
    (True, False, False)
    """
    if not text.isascii() or re.fullmatch(_PLAIN, text) is None or re.search(_OTHER_NUMBERS, text) is not None:
        return False
    return "," not in text or _has_tuples_in_parentheses(text)


def _has_tuples_in_parentheses(text: str) -> bool:
    """Whether each comma stands in parentheses, as in `max(a, b)`: Python reads a tuple without them, too."""
    around: list[str] = []
    for character in text:
        if character in "([":
            around.append(character)
        elif character in ")]" and around:
            around.pop()
        elif character == "," and around[-1:] != ["("]:
            return False
    return True
