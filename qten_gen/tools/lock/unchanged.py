"""Tells that the code of a lock has not changed, from the status of its files, so that an unchanged lock needs no torch.

What was seen is kept beside the manifest, in `.qten_cache/`. It only saves time: without it, the model is built.
"""

from __future__ import annotations

import json
import os
import sys
from typing import NamedTuple

from ...project import manifest
from ...project.glance import read_cached

_NAME = "locks.json"

Status = list[int]
"""The size and the time of a file."""


class Seen(NamedTuple):
    """What was seen when locks were as the code says."""

    targets: frozenset[str]
    files: dict[str, Status]


def unchanged(root: str) -> Seen:
    """The targets whose locks are as the code says, as no file has changed since; none if one has, or nothing valid is kept."""
    try:
        found = json.loads(read_cached(root, _NAME))
        seen = Seen(frozenset(found["targets"]), found["files"])
        if sys.executable in seen.files and all(_status(path) == status for path, status in seen.files.items()):
            return seen
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        pass
    return Seen(frozenset(), {})


def looked_at(lock: str, began: int) -> dict[str, Status] | None:
    """The files that a lock follows from: all that Python has imported, and the lock itself.

    None if one of them has changed since the time `began`, in nanoseconds.
    """
    standard = os.path.dirname(os.__file__)
    places = [vars(module).get("__file__") for module in list(sys.modules.values())]
    paths = {
        path for path in places if isinstance(path, str) and (not path.startswith(standard) or "-packages" in path)
    }
    own = {path for path in paths if f"{os.sep}torch{os.sep}" not in path or path.endswith(f"torch{os.sep}__init__.py")}
    found = {path: _status(path) for path in sorted({*own, sys.executable}) if os.path.exists(path)}
    found[os.path.abspath(lock)] = _status(lock)
    return found if all(status[1] < began for status in found.values()) else None


def remember(root: str, seen: Seen) -> None:
    """Keep what was seen for the next check."""
    text = json.dumps({"targets": sorted(seen.targets), "files": seen.files})
    manifest.write(root, _NAME, text)


def _status(path: str) -> Status:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns]
