"""Runs the user's code so that it does not disturb what the command prints; its errors, with the frames that belong to it."""

from __future__ import annotations

import linecache
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from .request import InspectionError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def of_user(what: str, error: BaseException) -> InspectionError:
    """The error for code of the user that raised while `what` was done: `importing shop.model`."""
    return InspectionError([f"{what} raised {describe(error)}"], is_misuse=False, trace=trace_of(error))


def describe(error: BaseException) -> str:
    """The type of an error and what it says, without blank lines and frames of C++: `ValueError: width has to be even`."""
    said = str(error).partition("\nException raised from ")[0]
    text = "\n".join(line for line in said.splitlines() if line.strip())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def trace_of(error: BaseException) -> str:
    """The frames of an error that are the user's, as Python prints them; those of libraries only from the last of the user's on.

    So frames of this package, of the import system and of torch's own calls between two frames of the user are left out.
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
    """Whether a file is neither ours nor that of an installed package or of Python itself."""
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
