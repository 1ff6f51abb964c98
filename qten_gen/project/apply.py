"""Bring the disk in line with a plan: the only module that changes a user's files.

Each file is written beside its place under another name and then moved there, so it is either the old one or the new one,
whatever interrupts. Links are never written through: the move replaces a link, it does not follow it.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple


class Change(NamedTuple):
    """An output that is not as planned: `old` is None where it is missing, `new` where it has to go."""

    path: str
    old: bytes | None
    new: bytes | None

    @property
    def kind(self) -> Literal["missing", "stale", "orphan"]:
        """What the output is before the change."""
        if self.old is None:
            return "missing"
        return "orphan" if self.new is None else "stale"


def changes(outputs: Mapping[str, str | None], existing: Mapping[str, bytes]) -> tuple[Change, ...]:
    """What has to change so that the outputs are as planned, sorted by path."""
    found = []
    for path, text in sorted(outputs.items()):
        old, new = existing.get(path), None if text is None else text.encode()
        if not _equal(old, new):
            found.append(Change(path, old, new))
    return tuple(found)


def _equal(old: bytes | None, new: bytes | None) -> bool:
    """Whether nothing has to be done. A checkout that turned line ends into CRLF is not stale."""
    return old == new or (old is not None and new is not None and old.replace(b"\r\n", b"\n") == new)


def write(change: Change) -> None:
    """Make one change.

    Raises:
        OSError: The folder or the disk does not allow it; the file is as it was.
    """
    if change.new is None:
        try:
            os.unlink(change.path)
        except FileNotFoundError:
            pass
    else:
        _replace(change.path, change.new)


def _replace(path: str, data: bytes) -> None:
    """Write a file under another name and move it to its place. It keeps the permissions of the one that was there."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        try:
            os.chmod(temporary, stat.S_IMODE(os.lstat(path).st_mode))
        except FileNotFoundError:
            pass
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def diff(found: Iterable[Change]) -> Iterator[str]:
    """The lines of a unified diff of the changes, with line ends, as `git apply` and `patch -p1` read it."""
    for change in found:
        path = change.path.replace(os.sep, "/").lstrip("/")
        before = "/dev/null" if change.old is None else f"a/{path}"
        after = "/dev/null" if change.new is None else f"b/{path}"
        yield from _unified(_lines(change.old), _lines(change.new), before, after)


def _lines(data: bytes | None) -> list[str]:
    """Lines with their ends, split at line feeds alone: a form feed inside a line ends none."""
    *whole, last = (data or b"").decode("utf-8", "replace").split("\n")
    return [*(f"{line}\n" for line in whole), *filter(None, [last])]


def _unified(old: list[str], new: list[str], before: str, after: str) -> Iterator[str]:
    import difflib

    for line in difflib.unified_diff(old, new, before, after):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
