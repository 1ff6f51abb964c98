"""Handlers remembered for object classes that are not registered themselves.

A look-up by class must not keep the class alive. Weak references would cost every call more than the look-up itself. A class is
always part of a reference cycle, so it can go in a garbage collection only: each full collection starts by forgetting what was
remembered, and the next call finds the handler anew.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping

from .registrations import Handler

Resolved = dict[type, Handler | None]
"""The handler for each object class, or None for no handler."""

_FULL = 2 if sys.version_info < (3, 14) else 1
"""The youngest generation whose collection reaches old objects; since Python 3.14 that is done in steps."""

_remembered: list[tuple[Resolved, type]] = []


def remember(resolved: Resolved, obj_type: type, handler: Handler | None) -> None:
    """Note the handler for an object class until the next full garbage collection."""
    if _forget not in gc.callbacks:
        gc.callbacks.append(_forget)
    resolved[obj_type] = handler
    _remembered.append((resolved, obj_type))


def _forget(phase: str, info: Mapping[str, int]) -> None:
    """Called by the garbage collector."""
    if phase == "start" and info["generation"] >= _FULL:
        while _remembered:
            resolved, obj_type = _remembered.pop()
            resolved.pop(obj_type, None)
