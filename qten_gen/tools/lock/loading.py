"""Holds a checkpoint against a lock: what loading it would report, and what it would not."""

from __future__ import annotations

from collections.abc import Mapping

from ...common.state_differences import Found, Stored, compared
from .folding import unfolded
from .lines import Lock


def held(file: Mapping[str, Stored], lock: Lock) -> Found:
    """What differs between the tensors of a file and those of a lock."""
    return compared(file, {line.name: line for line in unfolded(lock.lines) if line.is_saved})
