"""A wrong command line, and the option that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from ..common.suggestions import nearest


class UsageError(Exception):
    """A command line with a mistake."""

    def __init__(self, problem: str, usage: str = "") -> None:
        super().__init__(problem)
        self.usage = usage
        """The line that says how the command is called; empty where that would not help."""


def near_option(wrong: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown option: the nearest one, if there is one. The dashes do not count.

    >>> near_option("--chek=1", ["--check"]), near_option("--foo", ["--color"])
    ('; did you mean --check?', '')
    """
    names = {item.lstrip("-"): item for item in known}
    close = nearest(wrong.partition("=")[0].lstrip("-"), names)
    return f"; did you mean {names[close]}?" if close else ""
