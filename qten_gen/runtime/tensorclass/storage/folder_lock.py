"""One writer at a time in a folder. The system lets go of the lock when a process ends, however it ends.

The lock is on the folder itself where the system can lock one, and leaves no trace there. Elsewhere, as on Windows and NFS, it is
on an empty file in the folder, which stays: who removes it lets two writers in, one that waits for the file which is gone and one
that makes another.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator

from filelock import lock_descriptor, unlock_descriptor

from . import files
from .file_names import LOCK

_INTERVAL = 0.002
"""Seconds between two looks at a lock that another has."""

_CLOSED_BY_EXEC = getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def only_writer(folder: str) -> Iterator[None]:
    """Make a folder where it is missing, and wait until nobody else saves to it: no other process, and no other thread."""
    descriptor = _locked(folder)
    try:
        yield
    finally:
        # A process that was forked meanwhile has the descriptor too, so closing it here does not end the lock.
        with contextlib.suppress(OSError):
            unlock_descriptor(descriptor)
        os.close(descriptor)


def _locked(folder: str) -> int:
    """An open file with the lock of a folder."""
    while True:
        files.make_folders(folder)
        try:
            descriptor, path = _descriptor(folder)
        except FileNotFoundError:
            continue  # the folder has gone again
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)


def _descriptor(folder: str) -> tuple[int, str]:
    """The file that is locked for a folder, open, and its path."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY | _CLOSED_BY_EXEC)
        if _lock(descriptor) is None:
            return descriptor, folder
        os.close(descriptor)
    path = f"{folder}{os.sep}{LOCK}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _CLOSED_BY_EXEC | files.AS_IT_IS, 0o666)
    refusal = _lock(descriptor)
    if refusal is not None:
        warnings.warn(
            f"{folder}: the file system has no locks ({refusal}), so that processes which save here at the same time can mix "
            f"their objects",
            stacklevel=2,
        )
    return descriptor, path


def _lock(descriptor: int) -> str | None:
    """Wait for the lock of an open file. Why there is none, where the file system has none for it."""
    try:
        lock_descriptor(descriptor, poll_interval=_INTERVAL)
    except OSError as error:
        return error.strerror or str(error)
    # Such as Ctrl-C, while it waits.
    except BaseException:
        os.close(descriptor)
        raise
    return None


def _is_at(path: str, descriptor: int) -> bool:
    """Whether a path still leads to an open file; the folder may have been removed, or replaced, while this waited."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
