"""Runs the user's code so that it does not disturb the output of the command, and turns its errors into one message."""

from __future__ import annotations

import linecache
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class InspectionError(Exception):
    """Why a model cannot be inspected: everything that is wrong, a line each."""

    def __init__(self, problems: Sequence[str], *, is_misuse: bool = True, trace: str = "") -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
        self.is_misuse = is_misuse
        """The arguments of the command are wrong, rather than the model."""
        self.trace = trace
        """The frames of the user's code that led to it, as Python prints them; empty for none."""


def of_user(what: str, error: BaseException) -> InspectionError:
    """The error for code of the user that raised while `what` was done: `importing shop.model`."""
    return InspectionError([f"{what} raised {describe(error)}"], is_misuse=False, trace=_trace_of(error))


def describe(error: BaseException) -> str:
    """The type of an error and what it says, without blank lines and frames of C++: `ValueError: width has to be even`."""
    said = str(error).partition("\nException raised from ")[0]
    text = "\n".join(line for line in said.splitlines() if line.strip())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _trace_of(error: BaseException) -> str:
    """The frames of the user's code, as Python prints them; without any, the last frame of a library.

    Frames of this package, of the import system and of torch between two frames of the user are left out.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_users(frame.filename)]
    shown = own or [frame for frame in frames if not _is_ours(frame.filename)][-1:]
    for frame in shown:
        linecache.checkcache(frame.filename)
    if isinstance(error, SyntaxError):
        return "".join(traceback.format_exception_only(error)[:-1])
    return "".join(traceback.format_list(shown))


def _is_ours(filename: str) -> bool:
    return filename.startswith((_PACKAGE + os.sep, "<"))


def is_users(filename: str) -> bool:
    """True for a file of the user: not of this package, of an installed one, or of Python."""
    parts = filename.split(os.sep)
    installed = "site-packages" in parts or "dist-packages" in parts
    return not (_is_ours(filename) or installed or filename.startswith(os.path.dirname(os.__file__) + os.sep))


@contextmanager
def aside() -> Iterator[None]:
    """Send what is printed to standard error, and drop warnings and torch's log about fake tensors.

    An operation that fails on fake tensors is logged by torch with a traceback of its own, beside the error that it raises.
    """
    log = logging.getLogger("torch._subclasses.fake_tensor")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with redirect_stdout(sys.stderr), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
