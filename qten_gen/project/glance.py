"""Tells at a glance that there is nothing to do, before any option or setting is read.

A run that had nothing to do remembers what it looked at: the listing of each folder of the project, and the status of every file
that decides what the project is. If the next run with the same arguments sees the same, it prints the same warnings and the same
summary. Otherwise it goes on as if nothing had been remembered.

It imports nothing but what `os` imports too, because a run over an unchanged tree takes little longer than to start Python.
"""

from __future__ import annotations

import os
import stat
import sys

from .generator_state import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = ".qten_cache"
NAME = "glance.txt"
"""The name of the file in `FOLDER` that holds what is remembered."""

_AS_IT_IS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How a file of the cache is opened: a link is an error, and a pipe is not waited for."""

_SHOWN = (".py", ".pyi", "pyproject.toml")
"""The files whose status a listing shows."""

_UNKNOWN = "-1 -1 -1 -1"
"""The status of a missing file."""

BUILD_FOLDERS = frozenset({"build", "dist"})
"""Folders that are searched only if they are packages, because a build folder has copies of the sources."""


def listing(folder: str, entries: Iterable[os.DirEntry[str]], newest: int | None = None) -> str:
    """The listing of a folder in a walk. Files that neither hold Python nor settings do not count.

    Files that have changed after `newest`, in nanoseconds, are seen as if they had changed again whenever they are compared.
    """
    lines = []
    for entry in entries:
        name = entry.name
        if name.endswith(_SHOWN):
            try:
                lines.append(f"{name} {_shown(entry.stat(), newest)}")
            except OSError:
                lines.append(f"{name} -")
        elif name.endswith(".tmp") or name == "pyvenv.cfg":
            lines.append(name)
        elif not (name.startswith(".") or name == "__pycache__" or entry.is_file(follow_symlinks=False)):
            is_package = name in BUILD_FOLDERS and os.path.exists(os.path.join(folder, name, "__init__.py"))
            lines.append(f"{name} {entry.is_symlink()} {entry.is_dir()} {is_package}")
    return "\n".join(lines)


def _shown(found: os.stat_result, newest: int | None = None) -> str:
    if newest is not None and max(found.st_mtime_ns, found.st_ctime_ns) > newest:
        return _UNKNOWN
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


class Told:
    """The output of a run."""

    def __init__(self, summary: str, plain: str, coloured: str, settled: str) -> None:
        self.summary = summary
        self.plain = plain
        """The warnings, without colours and with them."""
        self.coloured = coloured
        self.settled = settled
        """The identity of the run in the manifest."""


class Recalled:
    """The memory of a run that had nothing to do, and the changes since."""

    def __init__(
        self,
        root: str,
        parts: list[str],
        changed: dict[str, list[int]],
        listed: dict[str, list[os.DirEntry[str]]],
        listings: dict[str, str],
    ) -> None:
        self.root = root
        """The folder that holds what is remembered."""
        self.told = Told(*parts[1:5])
        self.changed = changed
        """The sources and outputs that are not as they were, each with its size, times and inode."""
        self.listed = listed
        """The listing of each folder now, by its path. A run that follows need not look again."""
        self._parts = parts
        self._listings = listings

    def text(self, newest: int) -> str:
        """The text that `recall` reads, as of now. Files that have changed after `newest` count as changed in it."""
        *parts, view = self._parts
        probed = view.split("\0")[: parts[5].count("\0") + 1]
        listings = {**self._listings}
        for path, status in self.changed.items():
            if max(status[1:3]) > newest:
                folder, name = os.path.split(path)
                line = f"{name} {' '.join(map(str, status))}"
                listings[folder] = listings[folder].replace(line, f"{name} {_UNKNOWN}")
        return "\0\0".join([*parts, "\0".join([*probed, *listings.values()])])


def text_of(
    paths: Sequence[str], told: Told, probes: Sequence[str], listings: Mapping[str, str], newest: int
) -> str | None:
    """The text that `recall` reads. None if a probe has changed after `newest`, or the text cannot be written.

    Args:
        paths: The paths of the command line.
        told: What is printed.
        probes: Files and folders outside the listings whose status counts, whether they exist or not.
        listings: What the walk saw of each folder, by its path.
        newest: A time in nanoseconds.
    """
    for path in probes:
        try:
            found = os.stat(path)
        except OSError:
            continue
        if max(found.st_mtime_ns, found.st_ctime_ns) > newest:
            return None
    parts = [surroundings(paths), told.summary, told.plain, told.coloured, told.settled]
    view = "\0".join([*map(_probed, probes), *listings.values()])
    text = "\0\0".join([*parts, "\0".join(probes), "\0".join(listings), view])
    try:
        text.encode()
    except UnicodeEncodeError:  # the name of a file is not text
        return None
    return text


def recall(paths: Sequence[str], start: str, name: str = NAME) -> Recalled | None:
    """The memory of the last run with these paths; None if more may have changed since than sources and outputs show.

    Args:
        paths: The paths of the command line, or targets.
        start: A path in the project.
        name: The name of the file in `FOLDER`.
    """
    key = surroundings(paths)
    folder = os.path.abspath(start)
    while True:
        parts = _read(folder, name).split("\0\0", 7)
        if len(parts) == 8 and parts[0] == key:
            return compared(folder, parts)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def compared(root: str, parts: list[str]) -> Recalled | None:
    """The memory of a run, as the parts of its text, compared with the present state."""
    probes, folders, view = (part.split("\0") if part else [] for part in parts[5:])
    if len(view) != len(probes) + len(folders) or [*map(_probed, probes)] != view[: len(probes)]:
        return None
    listed: dict[str, list[os.DirEntry[str]]] = {}
    listings: dict[str, str] = {}
    changed: dict[str, list[int]] = {}
    for folder, before in zip(folders, view[len(probes) :], strict=True):
        try:
            with os.scandir(folder) as entries:
                listed[folder] = [*entries]
        except (OSError, ValueError):
            return None
        now = listings[folder] = listing(folder, listed[folder])
        if now != before:
            more = _changed(before.split("\n"), now.split("\n"))
            if more is None:
                return None
            changed.update({os.path.join(folder, name): status for name, status in more.items()})
    return Recalled(root, parts, changed, listed, listings)


def _changed(before: list[str], now: list[str]) -> dict[str, list[int]] | None:
    """The status of the Python files of a folder that are not as before; None if anything else is different."""
    names = [line.rsplit(" ", 4)[0] for line in now]  # from the end, because a name may have spaces
    if len(before) != len(now) or len({*names}) != len(now):
        return None
    try:
        old, new = (dict(map(_file, {*one}.difference(other))) for one, other in ((before, now), (now, before)))
    except ValueError:  # not a file of Python, or its status cannot be read
        return None
    return new if old.keys() == new.keys() else None


def _file(line: str) -> tuple[str, list[int]]:
    """The name of a Python file and its status, from its line in a listing."""
    name, size, modified, changed, inode = line.rsplit(" ", 4)
    if not name.endswith((".py", ".pyi")):
        raise ValueError(name)
    return name, [int(size), int(modified), int(changed), int(inode)]


def _read(root: str, name: str) -> str:
    try:
        return read_cached(root, name).decode()
    except (OSError, ValueError):
        return ""


def read_cached(root: str, name: str, size: int = -1) -> bytes:
    """The bytes of a file of the cache below a folder, all or the first ones. A checkout may hold a link there, even to a device.

    Raises:
        OSError: It cannot be read, or is not a regular file.
    """
    descriptor = os.open(os.path.join(root, FOLDER, name), _AS_IT_IS)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read(size)


def surroundings(paths: Sequence[str]) -> str:
    """The circumstances of an outcome beside files: the generator, what the paths are here, and where Python finds libraries."""
    environment = [os.environ.get(name) for name in ("PYTHONPATH", "PYTHONUSERBASE", "HOME", "APPDATA")]
    interpreter = [sys.prefix, sys.base_prefix, sys.flags.no_user_site, sys.flags.isolated]
    given = [(path, os.path.realpath(path)) for path in paths]
    return f"{state()}\n{os.getcwd()} {given} {interpreter} {environment}"


def _probed(path: str) -> str:
    try:
        return _shown(os.stat(path))
    except (OSError, ValueError):
        return "-"
