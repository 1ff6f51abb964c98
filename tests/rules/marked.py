"""What the example of a rule marks: the place that has to be reported."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(r" *(\^+) *$")


@dataclass(frozen=True, slots=True)
class Case:
    """An example without its line of carets. Lines and columns count from 1; all are 0 if nothing is marked."""

    text: str
    line: int = 0
    column: int = 0
    end_column: int = 0


def case(example: str) -> Case:
    """Read one of the two texts of an example.

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
