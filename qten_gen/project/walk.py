"""Lists the Python files below folders, and what shows whether they have changed."""

import fnmatch
import os
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .apply import is_temporary
from .cache import Stat
from .config import ConfigError, section_in
from .output_names import is_output, source_of
from .paths import relative_to

BUILD_FOLDERS = frozenset({"build", "dist"})
"""Folders that are searched only if they are packages, because a build folder has copies of the sources."""

EXCLUDED = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "venv"})
"""Folders that are never searched, besides hidden folders and virtual environments of any name."""


class Exclusion(NamedTuple):
    base: str
    names: tuple[str, ...]
    paths: tuple[str, ...]

    def __call__(self, folder: str, name: str) -> bool:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names):
            return True
        if not self.paths:
            return False
        path = relative_to(os.path.join(os.path.abspath(folder), name), self.base)
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.paths)


def exclusion(patterns: Sequence[str], base: str) -> Exclusion:
    """A pattern without a slash is matched with names of files and folders, one with a slash with the path from `base`."""
    cleaned = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    names = tuple(pattern for pattern in cleaned if "/" not in pattern)
    return Exclusion(base, names, tuple(pattern for pattern in cleaned if "/" in pattern))


class Walk:
    """A walk over folders, and what it has found so far. All paths are display paths.

    Links to folders are not followed, so no loop is possible. A folder in which another project begins is not entered.
    """

    def __init__(self, excluded: Exclusion) -> None:
        self.files: dict[str, Stat] = {}
        """Sources and outputs."""
        self.folders: set[str] = set()
        """The folders that were listed with all that is below them."""
        self.unreadable: dict[str, str] = {}
        """Folders and files that could not be examined, and folders in which another project begins, with the problem."""
        self.unlisted: set[str] = set()
        """Folders that were not entered and modules that were left out, which an import may lead to all the same."""
        self.leftovers: list[str] = []
        """Files that have the name of a temporary file of a run."""
        self._excluded = excluded
        self._has_patterns = bool(excluded.names or excluded.paths)
        self._here = os.getcwd()

    def enter(self, start: str) -> None:
        """List a folder and all folders below it."""
        waiting = [start]
        while waiting:
            folder = waiting.pop()
            if folder not in self.folders:
                waiting.extend(self._list(folder, is_start=folder == start))

    def look(self, paths: Iterable[str]) -> None:
        """Add the paths that exist. Links and folders named like an output are added, to be reported and kept."""
        for path in paths:
            self._look(path, is_output(path))

    def _look(self, path: str, generated: bool, entry: "os.DirEntry[str] | None" = None) -> None:
        """Add a path if it exists, or say why it cannot be examined."""
        try:
            status = _status(path, entry, generated)
        except FileNotFoundError:
            return
        except OSError as error:
            self.unreadable[path] = f"cannot read it: {error.strerror or error}"
            return
        if generated or stat.S_ISREG(status.st_mode):
            self.files[path] = Stat.of(status)

    def _list(self, folder: str, is_start: bool) -> list[str]:
        """List one folder, and return the folders in it that a walk enters."""
        try:
            with os.scandir(folder) as scanned:
                entries = list(scanned)
        except OSError as error:
            if is_start or not isinstance(error, FileNotFoundError):
                self.unreadable[folder] = f"cannot read it: {error.strerror or error}"
            return []
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names:  # a virtual environment, whatever its name
            return []
        if "pyproject.toml" in names and not is_start and _begins_project(folder):
            self.unreadable[folder] = "it is a project of its own; run qten-gen for it alone, or list it in exclude"
            self.unlisted.add(folder)
            return []
        self.folders.add(folder)
        prefix = "" if folder == "." else os.path.join(folder, "")
        found: list[str] = []
        for entry in entries:
            name = entry.name
            if name.endswith((".py", ".pyi")):
                generated = is_output(name)
                # Outputs go with their source, whatever a pattern says of their own names.
                meant = source_of(name) if generated else name
                is_left_out = self._has_patterns and self._excluded(folder, meant)
                if (generated or name.endswith(".py")) and not is_left_out:
                    self._look(prefix + name, generated, entry)
                else:
                    self.unlisted.add(prefix + name)
            elif is_temporary(name):
                self.leftovers.append(prefix + name)
            elif entry.is_dir(follow_symlinks=False) and _is_entered(entry) and not self._excluded(folder, name):
                path = prefix + name
                found.append("." if path == self._here else path)
            elif name.isidentifier() and name != "__pycache__" and entry.is_dir():  # a link to a package, for one
                self.unlisted.add(prefix + name)
        return found


def _begins_project(folder: str) -> bool:
    """True if another project begins in a folder that has a `pyproject.toml`."""
    try:
        return section_in(folder) is not None
    except ConfigError:
        return True  # its mistake is reported by a run for it


def _status(path: str, entry: "os.DirEntry[str] | None", generated: bool) -> os.stat_result:
    """The status of a file; of an output that is a link, the status of the link. On Windows, a listing knows less."""
    if entry is not None and os.name != "nt":
        return entry.stat(follow_symlinks=not generated)
    return os.lstat(path) if generated else os.stat(path)


def _is_entered(entry: "os.DirEntry[str]") -> bool:
    """True if the walk enters a folder."""
    if entry.name.startswith(".") or entry.name in EXCLUDED:
        return False
    return entry.name not in BUILD_FOLDERS or os.path.exists(os.path.join(entry.path, "__init__.py"))
