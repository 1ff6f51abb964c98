"""The identity of a file's content: its status and its digest."""

import os
from collections.abc import Iterable
from typing import NamedTuple, Self

COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes may get the same modification time."""


class Stat(NamedTuple):
    """The status of a file, which shows whether it has changed. Times are in nanoseconds.

    Size and modification time do not suffice: `cp -p`, rsync and archives give an edited file the time that it had elsewhere.
    """

    size: int
    modified: int
    changed: int
    """The last change of the status, which no program can set; on Windows, when the file was made."""
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


NO_STAT = Stat(-1, -1, -1, -1)
"""The status of a missing file."""


class Signature(NamedTuple):
    """A file as it was read. A modification time of -1 never matches, so the file is hashed again."""

    stat: Stat
    digest: str


NO_FILE = Signature(NO_STAT, "")
"""The signature of a missing file."""


def signature(status: Stat, digest: str, now: int) -> Signature:
    """The signature of a file. If the file changed just before `now`, its time is -1, as it may not show a further change."""
    return Signature(status if status.modified < now - COARSE_CLOCK else status._replace(modified=-1), digest)


def folder_numbers(folders: Iterable[str]) -> list[tuple[int, int]]:
    """The identities of folders, other for those that are put in their place; empty if one is gone."""
    try:
        return [(found.st_dev, found.st_ino) for found in map(os.stat, folders)]
    except OSError:
        return []
