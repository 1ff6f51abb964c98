"""What the small commands say of a wrong command line. Those with more options have parsers (`options`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from ..common.suggestions import nearest
from . import MISUSE


def misuse(told: str, usage: str, err: TextIO) -> int:
    """Print what is wrong and how the command is used, and return the exit status."""
    err.write(f"error: {told}\n{usage}")
    return MISUSE


def unknown_option(arguments: Sequence[str], known: Iterable[str]) -> str:
    """What is wrong with arguments of which one is not expected.

    >>> unknown_option(["--jsn"], ["--json"])
    'unknown option --jsn; did you mean --json?'
    """
    options = list(known)
    wrong = next((item for item in arguments if item not in options), None)
    if wrong is None:
        return f"{' and '.join(arguments)} cannot be combined"
    if not wrong.startswith("-"):
        return f"unexpected argument {wrong}"
    return f"unknown option {wrong}{near_option(wrong, options)}"


def near_option(wrong: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown option: the nearest one, if there is one. The dashes do not count.

    >>> near_option("--chek=1", ["--check"]), near_option("--foo", ["--color"])
    ('; did you mean --check?', '')
    """
    names = {item.lstrip("-"): item for item in known}
    close = nearest(wrong.partition("=")[0].lstrip("-"), names)
    return f"; did you mean {names[close]}?" if close else ""
