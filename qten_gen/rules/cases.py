"""Reads the example of a rule: a difference of two Python texts, of which the first has a mistake and the second does not.

A line of carets in the first marks the reported code in the line above.
"""

from __future__ import annotations

import re

from ..common.records import record

_MARK = re.compile(r" *(\^+) *$")


@record(frozen=True, slots=True)
class Case:
    """An example without its line of carets. Lines and columns count from 1; all are 0 if nothing is marked."""

    text: str
    line: int = 0
    column: int = 0
    end_column: int = 0


def bad(example: str) -> str:
    """The text with the mistake, carets included.

    >>> bad("-x = 1\\n-    ^\\n+x = 2\\n y = 3\\n")
    'x = 1\\n    ^\\ny = 3\\n'
    """
    return _without("+", example)


def good(example: str) -> str:
    """The text without the mistake."""
    return _without("-", example)


def _without(sign: str, example: str) -> str:
    return "".join(f"{line[1:]}\n" for line in example.strip("\n").split("\n") if not line.startswith(sign))


def case(example: str) -> Case:
    """Read one of the two texts.

    >>> case("x = 1\\n    ^\\n")
    Case(text='x = 1\\n', line=1, column=5, end_column=6)
    """
    kept: list[str] = []
    line = column = end_column = 0
    for text in example.lstrip("\n").splitlines():
        marked = _MARK.match(text)
        if marked is None:
            kept.append(text)
        else:
            line, column, end_column = len(kept), marked.start(1) + 1, marked.end(1) + 1
    return Case("\n".join(kept) + "\n", line, column, end_column)
