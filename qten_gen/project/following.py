"""Follows a project in a process that goes on, such as a watch or a language server.

A state counts as long as a glance shows that only what sources and outputs say may have changed since (see `glance`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .changes import OpenReader
from .glance import Told, compared, text_of
from .glance_record import Glance, listings_of, probes_of
from .paths import display_path
from .stale import ProjectState, state_after
from .statuses import COARSE_CLOCK, Stat, folder_numbers


class Followed(NamedTuple):
    """A state that left nothing to do."""

    state: ProjectState
    seen: str
    """The text that a glance compares. Files that changed just before count as changed: the clock may miss the next change."""
    folders: Sequence[tuple[int, int]]
    """The identities of the folders, so that one in the place of another is noticed whose files have the same status."""


def followed(found: Glance, began: int) -> Followed | None:
    """A state as `now` takes it; None if a glance would not tell all. It was found after `began`, in nanoseconds."""
    newest = began - COARSE_CLOCK
    listings = listings_of(found, newest)
    seen = text_of(found.paths, Told("", "", "", ""), probes_of(found), listings, newest)
    return None if seen is None else Followed(found.state, seen, folder_numbers(listings))


def now(
    known: Followed, open_reader: OpenReader, unsaved: Mapping[str, bytes] = {}, closed: Iterable[str] = ()
) -> Followed | None:
    """The present state; None if that has to be found out from the disk.

    Args:
        known: The state that it was.
        open_reader: Gives what reads the changed files.
        unsaved: Texts of sources that are taken for those on the disk.
        closed: Sources of which such a text was taken for the state that it was.
    """
    began = time.time_ns()
    found = compared(known.state.cache, known.seen.split("\0\0", 7))
    if found is None or known.folders != folder_numbers(found.listed) or any(map(os.path.islink, found.changed)):
        return None
    sources = known.state.files.sources
    changed = {path: sources[path].stat for path in closed if path in sources}
    changed.update({display_path(path): Stat(*status) for path, status in found.changed.items()})
    state = state_after(known.state, found.listed, changed, open_reader, unsaved)
    return None if state is None else Followed(state, found.text(began - COARSE_CLOCK), known.folders)
