"""Holds a checkpoint against a lock: what loading it would report, and what it would not."""

from __future__ import annotations

from collections.abc import Mapping

from ...common.state_differences import Found, Stored, compared
from .folded_lines import names, unfolded
from .lines import Line, Lock


def held(file: Mapping[str, Stored], lock: Lock) -> Found:
    """The differences between the tensors of a file and those of a lock."""
    wanted: dict[str, Line] = {}
    for line in filter(lambda line: line.is_saved, lock.lines):
        if line.tie:
            wanted.update((each.name, each) for each in unfolded([line]))
        else:  # its tensors have other names, and are equal in all else
            wanted.update(dict.fromkeys(names(line), line))
    return compared(file, wanted)
