"""Runs the user's code so that it does not disturb what the command prints, and with room for modules that nest deeply."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


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


_FRAMES = 20_000
"""Frames for models that nest some thousand modules, which the stack of a process has room for."""


@contextmanager
def room_for_nesting() -> Iterator[None]:
    """Let modules nest some thousand deep in the block, where Python allows some hundred.

    Each module in another takes some frames of Python, to walk over it and to call it.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
