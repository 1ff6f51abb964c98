"""Finds the files of a run: the sources below the given paths, their neighbours, and the outputs beside them.

It reads names, sizes and times, but not the contents of files. Paths are kept as messages show them: relative to the working
directory if they are below it. It uses the standard library only, and `os` instead of `pathlib`, because every run needs it, even
over an unchanged tree.
"""

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..common.suggestions import nearest
from .output_names import is_output, outputs_of, source_of
from .packages import Packages
from .scan import Origin

EXCLUDED = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "venv"})
"""Folders that are never searched, besides hidden folders and virtual environments of any name."""

BUILD_FOLDERS = frozenset({"build", "dist"})
"""Folders that are searched only if they are packages, because a build folder has copies of the sources."""

Stat = tuple[int, int]
"""Size and modification time in nanoseconds, which show whether a file has changed."""


class Source(NamedTuple):
    """A Python file that may declare.

    A file that is not a `target` is outside the given paths. It is read if a target needs it, but nothing is generated for it.
    """

    origin: Origin
    stat: Stat
    target: bool


class ProjectFiles(NamedTuple):
    """The files on disk, by path."""

    sources: dict[str, Source]
    outputs: dict[str, Stat]
    """Every file below the given paths that has the name of an output."""
    unlistable: dict[str, str]
    """Folders that could not be listed, with the system's reason."""


class PathError(Exception):
    """A given path that cannot be used; the text says why, and what to pass instead."""


def display_path(path: str) -> str:
    """A path as messages show it: relative to the working directory if it is below that, otherwise absolute."""
    absolute = os.path.abspath(path)
    here = os.getcwd()
    if absolute == here:
        return "."
    prefix = here if here.endswith(os.sep) else here + os.sep
    return absolute.removeprefix(prefix)


def discover(
    paths: Sequence[str],
    exclude: Sequence[str] = (),
    base: str = ".",
    context: Sequence[str] = (),
    roots: Sequence[str] = (),
) -> ProjectFiles:
    """Find all sources and outputs below `paths`, and the sources around them that they may import.

    `exclude` are globs over paths relative to the folder `base`; `context` are folders whose sources count as neighbours of
    every path inside them. The rest of a package, or of a plain folder, is always a neighbour of its files. `roots` are folders
    that modules are imported from: folders below them are packages, even without an `__init__.py`.

    Raises:
        PathError: A path does not exist, or is not a Python source.
    """
    excluded = _matcher(exclude, os.path.abspath(base))
    packages = Packages(roots)
    found: dict[str, Stat] = {}
    neighbours: dict[str, Stat] = {}
    unlistable: dict[str, str] = {}
    for path in dict.fromkeys(display_path(path) for path in paths):
        status = _usable(path)
        is_folder = stat.S_ISDIR(status.st_mode)
        if is_folder:
            found.update(_display_paths(path, _walk(path, excluded, unlistable)))
        else:
            found[path] = (status.st_size, status.st_mtime_ns)
            found.update(_present(outputs_of(path)))
            neighbours.update(_walk(os.path.dirname(path) or ".", excluded, {}, deep=False))
        for folder in _neighbourhoods(path, is_folder, context, packages):
            neighbours.update(_display_paths(folder, _walk(folder, excluded, {})))
    return _sorted_out(found, neighbours, unlistable, packages)


def _display_paths(folder: str, walk: Iterable[tuple[str, Stat]]) -> Iterable[tuple[str, Stat]]:
    """The files of a walk with their display paths, which differ if the working directory is below the folder."""
    return ((display_path(path), status) for path, status in walk) if os.path.isabs(folder) else walk


def _usable(path: str) -> os.stat_result:
    """The status of a path that a user gave. Raises PathError if it cannot be used."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise PathError(f"no such file or folder: {path}{_nearby(path)}") from None
    except OSError as error:
        raise PathError(f"cannot read {path}: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        return status
    if is_output(path):
        raise PathError(f"{path} is a generated file; pass its source: {source_of(path)}")
    if not path.endswith(".py"):
        raise PathError(f"{path} is not a Python file (.py) or a folder")
    return status


def _nearby(path: str) -> str:
    """`; did you mean ...?` if the folder contains a similar name."""
    folder, name = os.path.split(path)
    try:
        names = [name for name in os.listdir(folder or ".") if not is_output(name)]
    except OSError:
        return ""
    close = nearest(name, names)
    return f"; did you mean {os.path.join(folder, close)}?" if close else ""


class _Matcher(NamedTuple):
    base: str
    names: tuple[str, ...]
    paths: tuple[str, ...]

    def __call__(self, folder: str, name: str) -> bool:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names):
            return True
        if not self.paths:
            return False
        path = os.path.relpath(os.path.join(os.path.abspath(folder), name), self.base).replace(os.sep, "/")
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.paths)


def _matcher(patterns: Sequence[str], base: str) -> _Matcher:
    """A pattern without a slash is matched with names of files and folders, one with a slash with the path from `base`."""
    cleaned = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    names = tuple(pattern for pattern in cleaned if "/" not in pattern)
    return _Matcher(base, names, tuple(pattern for pattern in cleaned if "/" in pattern))


def _walk(folder: str, excluded: _Matcher, unlistable: dict[str, str], deep: bool = True) -> Iterator[tuple[str, Stat]]:
    """Every Python file below a folder, with its status. Links to folders are not followed, so no loop is possible.

    Folders that cannot be listed are noted in `unlistable`.
    """
    prefix = "" if folder == "." else folder.rstrip(os.sep) + os.sep
    try:
        with os.scandir(folder) as listing:
            entries = list(listing)
    except OSError as error:
        unlistable[folder] = error.strerror or str(error)
        return
    names = {entry.name for entry in entries}
    if deep and "pyvenv.cfg" in names:
        return
    for entry in entries:
        name = entry.name
        if name.endswith((".py", ".pyi")):
            # Outputs go with their source, whatever a pattern says of their own names.
            plain = os.path.basename(source_of(name)) if is_output(name) else name
            if (name.endswith(".py") or is_output(name)) and not excluded(folder, plain):
                yield from _present((prefix + name,))
        elif deep and entry.is_dir(follow_symlinks=False) and _entered(entry) and not excluded(folder, name):
            yield from _walk(prefix + name, excluded, unlistable)


def _entered(entry: os.DirEntry[str]) -> bool:
    """Whether the walk enters a folder."""
    if entry.name.startswith(".") or entry.name in EXCLUDED:
        return False
    return entry.name not in BUILD_FOLDERS or os.path.exists(os.path.join(entry.path, "__init__.py"))


def _present(paths: Iterable[str]) -> Iterator[tuple[str, Stat]]:
    """Those of the paths that exist. Links and folders named like an output are included, to be reported and not overwritten."""
    for path in paths:
        try:
            status = os.lstat(path) if is_output(path) else os.stat(path)
        except OSError:
            continue
        if is_output(path) or stat.S_ISREG(status.st_mode):
            yield path, (status.st_size, status.st_mtime_ns)


def _neighbourhoods(path: str, is_folder: bool, context: Sequence[str], packages: Packages) -> Iterator[str]:
    """Folders whose sources may be imported by those of a path: its top-level package, and each context folder around it."""
    top = packages.outermost(path if is_folder else os.path.dirname(path))
    if top is not None:
        yield display_path(top)
    inside = os.path.join(os.path.abspath(path), "")
    yield from (display_path(root) for root in context if inside.startswith(os.path.join(os.path.abspath(root), "")))


def _sorted_out(
    found: dict[str, Stat], neighbours: dict[str, Stat], unlistable: dict[str, str], packages: Packages
) -> ProjectFiles:
    """Separate the files into sources, with their module names, and outputs."""
    sources = {
        path: Source(_origin(path, packages), status, path in found)
        for path, status in sorted({**neighbours, **found}.items())
        if not is_output(path)
    }
    return ProjectFiles(
        sources, {path: status for path, status in sorted(found.items()) if is_output(path)}, unlistable
    )


def _origin(path: str, packages: Packages) -> Origin:
    """The module that a file is."""
    folder, name = os.path.split(path)
    root, package = packages.of(folder)
    stem = name.removesuffix(".py")
    if stem == "__init__" and package:
        return Origin(root, package, is_package=True)
    return Origin(root, f"{package}.{stem}".lstrip("."))
