"""Runs the user's code so that it does not disturb what the command prints."""

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
