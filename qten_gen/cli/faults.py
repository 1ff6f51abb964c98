"""Prints the message for a bug in qten-gen."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import TextIO

from .. import __version__


def print_faults(tracebacks: Iterable[str], err: TextIO) -> None:
    """Print the tracebacks of bugs in qten-gen, and what to report."""
    for text in tracebacks:
        err.write(f"{text.rstrip()}\n\n")
    err.write(
        "error: this is a bug in qten-gen, not in your code. Nothing was written for the file.\n"
        "Please report it to the maintainers, with the text above and the source file.\n"
        f"qten-gen {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    )
