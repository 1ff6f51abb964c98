"""Reads the example of a rule: a difference of two Python texts, of which the first has a mistake and the second does not.

A line of carets in the first marks the reported code in the line above.
"""

from __future__ import annotations


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
