"""The progress of long work on a terminal: one line on standard error, which is overwritten, and gone at the end."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from time import monotonic
from typing import TypeVar

_T = TypeVar("_T")
_PATIENCE = 1.0
"""The seconds for which work says nothing."""
_INTERVAL = 0.1
"""The seconds between two numbers."""


def counted(items: Collection[_T], doing: str) -> Iterator[_T]:
    """The items, while a terminal shows how many of them are done. To anything but a terminal, nothing is written."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    due, is_shown = monotonic() + _PATIENCE, False
    try:
        for number, item in enumerate(items):
            if monotonic() > due:
                due, is_shown = monotonic() + _INTERVAL, True
                sys.stderr.write(f"\r{doing}: {number:,} of {len(items):,} files\x1b[K")
                sys.stderr.flush()
            yield item
    finally:
        if is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
