"""Recognises syntax of later Python versions, for which the running interpreter has only a misleading message."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

_Version = tuple[int, int]

_RUNNING = "{}.{}.{}".format(*sys.version_info)

_FORMS: tuple[tuple[_Version, str, re.Pattern[str]], ...] = (
    (
        (3, 13),
        "defaults of type parameters need",
        re.compile(r"\s*(?:class|(?:async\s+)?def|type)\s+\w+\s*\[[^\]]*[^=]=[^=]"),
    ),
    ((3, 12), "type parameters need", re.compile(r"\s*(?:class|(?:async\s+)?def)\s+\w+\s*\[")),
    ((3, 12), "the type statement needs", re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?=")),
)
"""The first version with a form, the message about it, and what a line with it starts with."""

_TEMPLATE_STRING = re.compile(r"(?<![\w'\"])(?:t|tr|rt)['\"]", re.IGNORECASE)


def newer_syntax(error: SyntaxError, lines: Sequence[str]) -> tuple[str, str] | None:
    """The message and the help for a syntax error that a later version of Python would not find; None for others."""
    number, column = error.lineno or 1, max(1, error.offset or 1)
    line = lines[number - 1] if number <= len(lines) else ""
    for version, form, pattern in _FORMS:
        if pattern.match(line) and sys.version_info < version:
            return _needs(form, version)
    if sys.version_info < (3, 14) and _TEMPLATE_STRING.search(line[max(0, column - 3) : column + 2]):
        return _needs("template strings need", (3, 14))
    if sys.version_info < (3, 12) and "f-string" in error.msg:
        return error.msg, f"Python 3.12 allows more in f-strings than Python {_RUNNING}, which qten-gen runs with"
    return None


def _needs(form: str, version: _Version) -> tuple[str, str]:
    needed = "{}.{}".format(*version)
    help = f"run qten-gen with Python {needed} or newer, or write it as in Python {_RUNNING}"
    return f"{form} Python {needed}, but qten-gen runs with Python {_RUNNING}", help
