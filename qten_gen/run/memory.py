"""Keeps what a run has found for the next one in the same process, such as a watch or a language server.

What a run has read, the graph of imports and the manifest are kept if it left nothing to do. They count as long as the next run
sees at a glance that only what sources and outputs say may have changed (see `project.glance`), and no other process has written
the manifest meanwhile. Otherwise the next run begins from the disk, as in a process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..project import manifest
from ..project.paths import display_path
from ..project.stale import ProjectState, state_after
from ..project.statuses import Stat, folder_numbers
from .reading import open_readings

if TYPE_CHECKING:
    from ..project.glance import Recalled
    from .parts import Part


class Kept(NamedTuple):
    """A part of a run, and the state that the run has left."""

    part: Part
    state: ProjectState
    settled: str
    """What identifies the run in the manifest."""
    folders: Sequence[tuple[int, int]]
    """What identifies the folders, so that one in the place of another is noticed whose files have the same status."""


class Memory:
    """What runs in this process have left, by the folder of the manifest."""

    def __init__(self) -> None:
        self._runs: dict[str, Kept] = {}

    def keep(self, part: Part, state: ProjectState, settled: str) -> None:
        """Keep what a run has left, if it left nothing to do."""
        if settled:
            self._runs[state.cache] = Kept(
                part, state._replace(reader=None), settled, folder_numbers(state.files.listings)
            )

    def recall(self, found: Recalled) -> Kept | None:
        """What the last run has left, compared with what is there now; None if that does not tell all. It is forgotten."""
        kept = self._runs.pop(found.root, None)
        if kept is None or kept.settled != found.told.settled or kept.folders != folder_numbers(found.listed):
            return None
        if not manifest.is_there(found.root, kept.state.previous) or any(map(os.path.islink, found.changed)):
            return None
        changed = {display_path(path): Stat(*status) for path, status in found.changed.items()}
        state = state_after(kept.state, found.listed, changed, open_readings)
        return None if state is None else kept._replace(state=state)
