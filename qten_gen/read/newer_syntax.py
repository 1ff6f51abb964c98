"""Recognises syntax of later Python versions, for which the running interpreter has only a misleading message."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

_Version = tuple[int, int]

_FORMS: tuple[tuple[_Version, str, re.Pattern[str]], ...] = (
    ((3, 12), "type parameters", re.compile(r"\s*(?:class|(?:async\s+)?def)\s+\w+\s*\[")),
    (
        (3, 13),
        "defaults of type parameters",
        re.compile(r"\s*(?:class|(?:async\s+)?def|type)\s+\w+\s*\[[^\]]*[^=]=[^=]"),
    ),
    ((3, 12), "the type statement", re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?=")),
    ((3, 14), "template strings", re.compile(r"(?:.*[^\w'\"])?(?:[tT][rR]?|[rR][tT])['\"]")),
    ((3, 14), "several exceptions without parentheses", re.compile(r"\s*except\*?\s+[\w.]+\s*,")),
)
"""The first version with a form, its name, and what a line with it looks like."""


def newer_syntax(error: SyntaxError, lines: Sequence[str]) -> tuple[str, str] | None:
    """The message and the help for a syntax error that a later version of Python would not find; None for others."""
    number = error.lineno or 1
    line = lines[number - 1] if number <= len(lines) else ""
    running = "{}.{}.{}".format(*sys.version_info)
    for version, form, pattern in _FORMS:
        if sys.version_info < version and pattern.match(line):
            needed = "{}.{}".format(*version)
            help = f"run qten-gen with Python {needed} or newer, or write it as in Python {running}"
            return f"{form} need Python {needed}, but qten-gen runs with Python {running}", help
    if sys.version_info < (3, 12) and "f-string" in error.msg:
        help = f"Python 3.12 allows more in f-strings than Python {running}, which qten-gen runs with"
        return error.msg, help
    return None
