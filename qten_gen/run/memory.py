"""Keeps what a run has found for the next one in the same process, such as a watch or a language server.

What a run has read, the graph of imports and the manifest are kept if it left nothing to do. They count as long as the next run
can follow (see `project.following`), and no other process has written the manifest meanwhile. Otherwise the next run begins from
the disk, as in a process of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..project import manifest
from ..project.following import Followed, now
from .reading import open_readings

if TYPE_CHECKING:
    from .parts import Part


class Kept(NamedTuple):
    """A part of a run, and what the run has left."""

    part: Part
    settled: str
    """The identity of the run in the manifest."""
    followed: Followed


class Memory:
    """The memory of runs in this process, by their paths."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, ...], Kept] = {}

    def keep(self, kept: Kept) -> None:
        """Keep what a run has left that left nothing to do."""
        self._runs[kept.part.paths] = kept

    def recall(self, paths: Sequence[str]) -> Kept | None:
        """The memory of the last run over these paths, compared with the present state; None if that does not tell all.

        It is forgotten.
        """
        kept = self._runs.pop(tuple(paths), None)
        if kept is None or not manifest.is_there(kept.followed.state.cache, kept.followed.state.previous):
            return None
        followed = now(kept.followed, open_readings)
        return None if followed is None else kept._replace(followed=followed)
