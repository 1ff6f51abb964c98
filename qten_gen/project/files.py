"""Which files a run is about: the sources below the given paths, their neighbours, and the outputs that lie beside them.

Here the disk is read (names, sizes, times), never file contents, and nothing is changed. Paths are kept as they are shown to
the user: relative to the working directory where they lie below it. Standard library only, `os` rather than `pathlib`:
this runs each time, also when nothing has changed.
"""

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..common.suggestions import nearest
from .import_graph import Origin
from .packages import Packages

EXCLUDED = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "venv"})
"""Folders that are never entered, besides those whose name starts with a dot and virtual environments of any name."""

BUILD_FOLDERS = frozenset({"build", "dist"})
"""Folders that are not entered unless they are packages: a build tree copies the sources."""

OUTPUT_SUFFIXES = ("_qten.py", "_qten.pyi")

Stat = tuple[int, int]
"""Size and modification time in nanoseconds: what tells that a file is the one seen last time."""


class Source(NamedTuple):
    """A Python file that may declare.

    A file that is not a `target` lies outside the given paths: it is read where a target needs it, and nothing is written for it.
    """

    origin: Origin
    stat: Stat
    target: bool


class Tree(NamedTuple):
    """What lies on the disk: sources by path, and by path every file below the given paths that has the name of an output.

    `closed` are the folders that could not be listed, with the system's reason.
    """

    sources: dict[str, Source]
    outputs: dict[str, Stat]
    closed: dict[str, str]


class PathError(Exception):
    """A given path that cannot be used; the text says why and what to give instead."""


def outputs_of(source: str) -> tuple[str, str]:
    """The module and the stub generated for a source.

    >>> outputs_of("pkg/model.py")
    ('pkg/model_qten.py', 'pkg/model_qten.pyi')
    >>> outputs_of("pkg/__init__.py")
    ('pkg/_qten.py', 'pkg/_qten.pyi')
    """
    folder, name = os.path.split(source)
    stem = name.removesuffix(".py")
    base = os.path.join(folder, "_qten" if stem == "__init__" else f"{stem}_qten")
    return f"{base}.py", f"{base}.pyi"


def source_of(output: str) -> str:
    """The source that a file with the name of an output belongs to."""
    folder, name = os.path.split(output)
    stem = name.rpartition(".")[0].removesuffix("_qten")
    return os.path.join(folder, f"{stem or '__init__'}.py")


def is_output(name: str) -> bool:
    """Whether a file has the name of an output."""
    return name.endswith(OUTPUT_SUFFIXES)


def shown(path: str) -> str:
    """A path as messages spell it: relative to the working directory where it lies below it, absolute elsewhere."""
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
) -> Tree:
    """All sources and outputs below `paths`, and the sources around them that they may be linked with.

    `exclude` are globs over paths relative to the folder `base`; `context` are folders whose sources count as neighbours of
    every path inside them. The rest of a package, or of a plain folder, is always a neighbour of its files. `roots` are folders
    that modules are imported from: what lies below them are packages, also without an `__init__.py`.

    Raises:
        PathError: A path is missing, or is no Python source.
    """
    excluded = _matcher(exclude, os.path.abspath(base))
    packages = Packages(roots)
    found: dict[str, Stat] = {}
    around: dict[str, Stat] = {}
    closed: dict[str, str] = {}
    for path in dict.fromkeys(shown(path) for path in paths):
        kind = _usable(path)
        is_folder = stat.S_ISDIR(kind.st_mode)
        if is_folder:
            found.update(_spelled(path, _walk(path, excluded, closed)))
        else:
            found[path] = (kind.st_size, kind.st_mtime_ns)
            found.update(_present(outputs_of(path)))
            around.update(_walk(os.path.dirname(path) or ".", excluded, {}, deep=False))
        for folder in _neighbourhoods(path, is_folder, context, packages):
            around.update(_spelled(folder, _walk(folder, excluded, {})))
    return _tree(found, around, closed, packages)


def _spelled(folder: str, walk: Iterable[tuple[str, Stat]]) -> Iterable[tuple[str, Stat]]:
    """What a walk yields, each file under its one spelling: the working directory may lie below the folder."""
    return ((shown(path), status) for path, status in walk) if os.path.isabs(folder) else walk


def _usable(path: str) -> os.stat_result:
    """The status of a path that a user gave, or a PathError that says what is wrong with it."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise PathError(f"no such file or folder: {path}{_nearby(path)}") from None
    except OSError as error:
        raise PathError(f"cannot read {path}: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        return status
    if is_output(path):
        raise PathError(f"{path} is an output; give its source: {source_of(path)}")
    if not path.endswith(".py"):
        raise PathError(f"{path} is not a Python file (.py) or a folder")
    return status


def _nearby(path: str) -> str:
    """`; did you mean ...?` where the folder holds something of nearly that name."""
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


def _walk(folder: str, excluded: _Matcher, closed: dict[str, str], deep: bool = True) -> Iterator[tuple[str, Stat]]:
    """Every Python file below a folder, with its status. Links to folders are not followed, so no loop is possible.

    Folders that cannot be listed are noted in `closed`.
    """
    prefix = "" if folder == "." else folder.rstrip(os.sep) + os.sep
    try:
        with os.scandir(folder) as listing:
            entries = list(listing)
    except OSError as error:
        closed[folder] = error.strerror or str(error)
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
            yield from _walk(prefix + name, excluded, closed)


def _entered(entry: os.DirEntry[str]) -> bool:
    """Whether the walk goes into a folder."""
    if entry.name.startswith(".") or entry.name in EXCLUDED:
        return False
    return entry.name not in BUILD_FOLDERS or os.path.exists(os.path.join(entry.path, "__init__.py"))


def _present(paths: Iterable[str]) -> Iterator[tuple[str, Stat]]:
    """Those of the paths that exist. Something odd under an output's name counts, so that it is reported and not overwritten."""
    for path in paths:
        try:
            status = os.lstat(path) if is_output(path) else os.stat(path)
        except OSError:
            continue
        if is_output(path) or stat.S_ISREG(status.st_mode):
            yield path, (status.st_size, status.st_mtime_ns)


def _neighbourhoods(path: str, is_folder: bool, context: Sequence[str], packages: Packages) -> Iterator[str]:
    """Folders whose sources are linked with those of a path: its whole top-level package, and each context folder around it."""
    top = packages.outermost(path if is_folder else os.path.dirname(path))
    if top is not None:
        yield shown(top)
    inside = os.path.join(os.path.abspath(path), "")
    yield from (shown(root) for root in context if inside.startswith(os.path.join(os.path.abspath(root), "")))


def _tree(found: dict[str, Stat], around: dict[str, Stat], closed: dict[str, str], packages: Packages) -> Tree:
    """Sort what was found into sources, with their module names, and outputs."""
    sources = {
        path: Source(_origin(path, packages), status, path in found)
        for path, status in sorted({**around, **found}.items())
        if not is_output(path)
    }
    return Tree(sources, {path: status for path, status in sorted(found.items()) if is_output(path)}, closed)


def _origin(path: str, packages: Packages) -> Origin:
    """The module that a file is."""
    folder, name = os.path.split(path)
    root, package = packages.of(folder)
    stem = name.removesuffix(".py")
    if stem == "__init__" and package:
        return Origin(root, package, is_package=True)
    return Origin(root, f"{package}.{stem}".lstrip("."))
