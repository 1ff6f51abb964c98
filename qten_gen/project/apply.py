"""Changes files of the user, each whole or not at all. No other module does.

Each file is written under a temporary name and then renamed. So even after an interruption, it has either the old content or the
new. Renaming replaces a symbolic link and does not write to its target.
"""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

_NAME = r"\.qten-gen-[0-9a-f]{12}-\d{1,10}\.tmp"
_SUFFIX = ".tmp"
_LONGEST_WRITE = 60
"""The seconds within which an output is written and renamed."""


def temporary_name(name: str) -> str:
    """The name of the temporary file for an output. It is short, so that a long name stays possible."""
    from hashlib import sha256

    digest = sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f".qten-gen-{digest}-{os.getpid()}{_SUFFIX}"


def is_temporary(name: str) -> bool:
    """True if a file has the name of a temporary file."""
    return name.endswith(_SUFFIX) and re.fullmatch(_NAME, name) is not None


class Change(NamedTuple):
    """An output that differs from the plan. `old` is None if it is missing, and `new` is None if it is to be removed."""

    path: str
    old: bytes | None
    new: bytes | None

    @property
    def kind(self) -> Literal["missing", "stale", "orphan"]:
        """The state of the output before the change."""
        if self.old is None:
            return "missing"
        return "orphan" if self.new is None else "stale"


def changes(outputs: Mapping[str, str | None], existing: Mapping[str, bytes]) -> tuple[Change, ...]:
    """The changes that bring the outputs in line with the plan, sorted by path."""
    found = []
    for path, text in sorted(outputs.items()):
        old, new = existing.get(path), None if text is None else text.encode()
        if not is_as_planned(old, new):
            found.append(Change(path, old, new))
    return tuple(found)


def is_as_planned(old: bytes | None, new: bytes | None) -> bool:
    """True if an output is as planned. A checkout that converted line ends to CRLF is not stale."""
    return old == new or (old is not None and new is not None and old.replace(b"\r\n", b"\n") == new)


def write_in_new_folders(change: Change) -> None:
    """Make one change, and the folders that lead to a new file.

    Raises:
        OSError: The file or a folder cannot be written; the file is unchanged.
    """
    os.makedirs(os.path.dirname(change.path) or ".", exist_ok=True)
    write(change)


def write(change: Change) -> None:
    """Make one change.

    Raises:
        OSError: The file cannot be written or removed; it is unchanged.
    """
    if change.new is None:
        try:
            os.unlink(change.path)
        except FileNotFoundError:  # somebody else has removed it, which is as good
            pass
    else:
        _replace(change.path, change.new)


def _replace(path: str, data: bytes) -> None:
    """Write a file under a temporary name and rename it. It keeps the permissions of the file that it replaces."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, temporary_name(name))
    try:
        with open(temporary, "xb") as file:  # `x`: a link of that name is not followed
            file.write(data)
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.lstat(path).st_mode))
        os.replace(temporary, path)
    except BaseException:  # an interrupt leaves no temporary file either
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def remove_leftovers(paths: Iterable[str]) -> None:
    """Remove the files with the names of temporary ones that an interrupted command has left. It does not raise."""
    for path in paths:
        with suppress(OSError):
            if time.time() - os.lstat(path).st_mtime > _LONGEST_WRITE:
                os.unlink(path)


def diff(found: Iterable[Change]) -> Iterator[str]:
    """The lines of a unified diff of the changes, with line ends, as `git apply` and `patch -p1` read it."""
    for change in found:
        path = change.path.replace(os.sep, "/").lstrip("/")
        before = "/dev/null" if change.old is None else _quoted(f"a/{path}")
        after = "/dev/null" if change.new is None else _quoted(f"b/{path}")
        yield from _unified(_lines(change.old), _lines(change.new), before, after)


def _quoted(path: str) -> str:
    """A path as git writes it: in quotes, with escapes, if a terminal would carry out a part of it."""
    escaped = "".join(c if c.isprintable() and c not in '"\\' else _octal(c) for c in path)
    return path if escaped == path else f'"{escaped}"'


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


def _lines(data: bytes | None) -> list[str]:
    """Lines with their ends, split at line feeds only. `str.splitlines` would split at a form feed, too."""
    *whole, last = (data or b"").decode("utf-8", "replace").split("\n")
    return [*(f"{line}\n" for line in whole), *filter(None, [last])]


def _unified(old: list[str], new: list[str], before: str, after: str) -> Iterator[str]:
    import difflib

    for line in difflib.unified_diff(old, new, before, after):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
