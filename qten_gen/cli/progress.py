"""Shows on a terminal how far a long run is: one line on standard error, which is rewritten in place and cleared at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ..generate.plan import Told

_PATIENCE = 1.0
"""Seconds before the first line. A run that ends earlier shows nothing."""

_PAUSE = 0.1
"""Seconds between two lines."""

_CLEAR = "\r\x1b[K"


class Progress:
    """The line that shows the progress of the block it is opened for. It is gone when the block ends, also by an exception.

    The block gets what the run tells its progress, or None if nothing is to be shown: with `quiet`, and where `err` is not a
    terminal that can rewrite a line.
    """

    def __init__(self, err: TextIO, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._err = err
        self._clock = clock
        self._shows = not quiet and err.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._next = clock() + _PATIENCE
        self._first: tuple[float, int] | None = None
        """When the first files were reported, and how many: the rate is that of the files since."""
        self._is_shown = False

    def __enter__(self) -> Told | None:
        return self._show if self._shows else None

    def __exit__(self, *error: object) -> None:
        if self._is_shown:
            self._err.write(_CLEAR)
            self._err.flush()

    def _show(self, done: int, total: int) -> None:
        """Show how many files are done, if it is time for that."""
        now = self._clock()
        if self._first is None:
            self._first = now, done
        if now < self._next:
            return
        self._next = now + _PAUSE
        seconds, files = now - self._first[0], done - self._first[1]
        rate = f", {files / seconds:.0f} files/s" if files > 0 and seconds else ""
        self._err.write(f"{_CLEAR}{done} of {total} files{rate}")
        self._err.flush()
        self._is_shown = True
