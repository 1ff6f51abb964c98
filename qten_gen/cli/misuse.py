"""A wrong command line, and the option or command that was probably meant."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ..common.suggestions import nearest
from . import COMMANDS


class UsageError(Exception):
    """A command line with a mistake."""

    def __init__(self, problem: str, usage: str = "") -> None:
        super().__init__(problem)
        self.usage = usage
        """The line that says how the command is called; empty where that would not help."""


def near_command(arguments: Sequence[str]) -> str:
    """The end of a message about a path that cannot be used, if a command may be meant: `lokc` is `lock`.

    >>> near_command(["lokc"]), near_command(["src"]), near_command(["lock", "a.py"])
    ('; did you mean the command lock?', '', '')
    """
    word = arguments[0] if arguments else ""
    if word in COMMANDS or os.path.lexists(word):
        return ""
    close = nearest(word, COMMANDS, 0.7)
    return f"; did you mean the command {close}?" if close else ""


def near_option(wrong: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown option: the nearest one, if there is one. The dashes do not count.

    >>> near_option("--chek=1", ["--check"]), near_option("--foo", ["--color"])
    ('; did you mean --check?', '')
    """
    names = {item.lstrip("-"): item for item in known}
    close = nearest(wrong.partition("=")[0].lstrip("-"), names)
    return f"; did you mean {names[close]}?" if close else ""
