"""The page of a rule as text: its docstring and its tested examples.

An example is a difference of two Python texts, of which the first has a mistake and the second does not. A line of carets in the
first marks the reported code in the line above.
"""

from __future__ import annotations

from textwrap import indent

from . import Rule


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


def page(rule: Rule) -> str:
    """The page of a rule. Carets mark the mistake in the text that is reported."""
    head = f"{rule.KIND.code} [{rule.KIND.name}], {'an' if rule.KIND.severity == 'error' else 'a'} {rule.KIND.severity}"
    text = (rule.__doc__ or "").strip()
    reported, right = (indent(part.strip("\n"), "    ") for part in (bad(rule.EXAMPLE), good(rule.EXAMPLE)))
    return f"{head}\n\n{text}\n\nReported:\n\n{reported}\n\nRight:\n\n{right}\n"
