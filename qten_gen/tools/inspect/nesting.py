"""Models whose modules nest deeply: each module in another takes some frames of Python, to walk over it and to call it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FRAMES = 20_000
"""Frames for models that nest some thousand modules, which the stack of a process has room for."""


@contextmanager
def room_for_nesting() -> Iterator[None]:
    """Let modules nest some thousand deep in the block, where Python allows some hundred."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
