"""Finds the files of a run: the sources of the project, and the outputs below the given paths.

The whole project is listed, whatever paths are given: what is generated for a file depends on files that it imports. So a run
over a part of the project gives the same as a run over all of it.

It reads names, sizes and times, but not the contents of files. Paths are kept as messages show them: relative to the working
directory if they are below it. It uses the standard library only, and `os` instead of `pathlib`, because every run needs it, even
over an unchanged tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..common.header import digest
from .cache import NO_STAT, Stat, generator
from .config import Config, config_of, source_paths
from .output_names import is_output, outputs_of, source_of
from .paths import below, display_path, read_all, read_regular, search_path, true_path
from .scan import Origin
from .walk import Walk, exclusion


class Packages:
    """Finds the package of a folder, and caches the results."""

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self._roots = frozenset(os.path.abspath(root) for root in roots)
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, folder: str) -> tuple[str, str]:
        """The folder that modules in `folder` are imported from, as an absolute path, and the dotted name of the package.

        The name is empty if the folder is not a package.
        """
        if folder not in self._known:
            absolute = os.path.abspath(folder)
            self._known[folder] = self._found(absolute) if absolute == folder else self.of(absolute)
        return self._known[folder]

    def _found(self, folder: str) -> tuple[str, str]:
        names: list[str] = []
        while self._is_package(folder):
            folder, name = os.path.split(folder)
            names.insert(0, name)
        return folder, ".".join(names)

    def _is_package(self, folder: str) -> bool:
        if folder in self._roots:
            return False
        if os.path.exists(os.path.join(folder, "__init__.py")):
            return True
        # An import statement cannot name such a folder, so it is a folder of scripts.
        name = os.path.basename(folder)
        return name.isidentifier() and any(folder.startswith(os.path.join(root, "")) for root in self._roots)


class Source(NamedTuple):
    """A Python file that may declare.

    A file that is not a `target` is outside the given paths. It is read if a target needs it, but nothing is generated for it.
    One that is `outside` is not part of the project: an import leads to it.
    """

    origin: Origin
    stat: Stat
    target: bool
    outside: bool = False


class ProjectFiles(NamedTuple):
    """The files on disk, by path."""

    sources: dict[str, Source]
    outputs: dict[str, Stat]
    """Every file below the given paths that has the name of an output."""
    unlistable: dict[str, str]
    """Folders and files below the given paths that could not be examined, with the problem."""
    unlisted: frozenset[str] = frozenset()
    """Folders and modules that are left out, as excluded ones and links, and that an import may lead to all the same."""
    leftovers: tuple[str, ...] = ()
    """Temporary files below the given paths, by their names, which an interrupted run has left."""


class PathError(Exception):
    """A given path that cannot be used; the text says why, and what to pass instead."""


def discover(paths: Sequence[str], config: Config | None = None, unsaved: Collection[str] = ()) -> ProjectFiles:
    """Find all sources of the project that the paths belong to, and the outputs below the paths.

    `config` are the settings of that project, and `unsaved` paths with texts that may not be on the disk yet.

    Raises:
        PathError: A path does not exist, or is not a Python source.
    """
    config = config or config_of(paths[0])
    walk = Walk(exclusion(config.exclude, config.root))
    new = {_shown(path) for path in unsaved if path.endswith(".py") and not os.path.lexists(path)}
    # A shell's *.py names generated files too: each stands for its source.
    sources_of_paths = (source_of(path) if is_output(path) and not os.path.isdir(path) else path for path in paths)
    given = {path: _usable(path) for path in dict.fromkeys(map(_shown, sources_of_paths)) if path not in new}
    folders = [path for path, status in given.items() if stat.S_ISDIR(status.st_mode)]
    for folder in (display_path(config.root), *folders):
        walk.enter(folder)
    named: dict[str, Stat] = dict.fromkeys(new, NO_STAT)
    for path in new:
        walk.look(outputs_of(path))
    for path, status in given.items():
        if path not in folders:
            named[path] = Stat.of(status)
            walk.look(outputs_of(path))
    packages = Packages(config.import_roots)
    inside = [below(folder) for folder in folders]
    outputs = {output for path in named for output in outputs_of(path)}
    beside = {os.path.dirname(path) for path in named}

    files = {**walk.files, **named}
    everything = {*files, *walk.unreadable, *walk.leftovers}
    chosen = {*named, *outputs}.union(*(filter(contains, everything) for contains in inside))
    ordered = sorted(files)
    generated = [path for path in ordered if is_output(path)]
    sources = files.keys() - set(generated)
    return ProjectFiles(
        {path: Source(origin(path, packages), files[path], path in chosen) for path in ordered if path in sources},
        {path: files[path] for path in generated if path in chosen},
        {path: reason for path, reason in walk.unreadable.items() if path in given or path in chosen},
        frozenset(walk.unlisted),
        tuple(sorted(path for path in walk.leftovers if path in chosen or os.path.dirname(path) in beside)),
    )


class Listed(NamedTuple):
    """Digests of what a run lists, and of what it is asked for."""

    names: str
    """Without the status of files: it decides, with their imports, which places they have among each other."""
    files: str

    @classmethod
    def of(cls, files: ProjectFiles, config: Config, paths: Sequence[str]) -> Listed:
        """The digests for a run over these paths."""
        asked = (generator(), os.getcwd(), paths, config, config.import_roots)
        sources = [(path, source.origin.module, source.target) for path, source in files.sources.items()]
        others = (sorted(files.unlisted), files.unlistable, files.leftovers)
        names = _digest((asked, search_path(), sources, [*files.outputs], others))
        statuses = [*(source.stat for source in files.sources.values()), *files.outputs.values()]
        return cls(names, _digest((names, [number for status in statuses for number in status])))


def _digest(value: object) -> str:
    return digest(repr(value).encode("utf-8", "surrogateescape"))


def _shown(path: str) -> str:
    """A given path as messages show it. Links and other spellings of one file give one path."""
    return display_path(true_path(path)) if os.path.exists(path) else display_path(path)


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
    if not path.endswith(".py"):
        raise PathError(f"{path} is not a Python file (.py) or a folder")
    if not stat.S_ISREG(status.st_mode):
        raise PathError(f"{path} is not a regular file")
    return status


def _nearby(path: str) -> str:
    """`; did you mean ...?` if the folder contains a similar name."""
    from ..common.suggestions import nearest

    folder, name = os.path.split(path)
    try:
        names = [name for name in os.listdir(folder or ".") if not is_output(name)]
    except OSError:
        return ""
    close = nearest(name, names)
    return f"; did you mean {os.path.join(folder, close)}?" if close else ""


def origin(path: str, packages: Packages) -> Origin:
    """The module that a file is."""
    folder, name = os.path.split(path)
    root, package = packages.of(folder)
    stem = name.removesuffix(".py")
    if stem == "__init__" and package:
        return Origin(root, package, is_package=True)
    return Origin(root, f"{package}.{stem}".lstrip("."))


class SourceTexts(Mapping[str, bytes]):
    """The bytes of sources by path, read when they are asked for. A source that has disappeared since it was listed is empty.

    Args:
        paths: The sources.
        unsaved: Texts by path, of sources or of other files, that count in place of the files.
    """

    def __init__(self, paths: Collection[str], unsaved: Mapping[str, bytes] | None = None) -> None:
        self._paths = paths
        self._unsaved = unsaved or {}
        self.digests: dict[str, str] = {}
        """The digests of the sources that were read from the disk."""

    def __getitem__(self, path: str) -> bytes:
        if path in self._unsaved:
            return self._unsaved[path]
        if path not in self._paths:
            raise KeyError(path)
        try:
            data = read_regular(path)
        except OSError:
            data = b""
            self.digests[path] = ""
        else:
            self.digests[path] = digest(data)
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class Project(NamedTuple):
    """A project, and the paths in it that a run is for."""

    paths: tuple[str, ...]
    config: Config
    files: ProjectFiles


class Texts(NamedTuple):
    """The files of a project as they are read whole."""

    origins: dict[str, Origin]
    texts: dict[str, bytes]
    targets: list[str]
    failures: list[str]
    """Messages about what cannot be read."""

    @classmethod
    def of(cls, files: ProjectFiles) -> Texts:
        """The texts of the sources of a project."""
        origins = {path: source.origin for path, source in files.sources.items()}
        texts, unreadable = read_all(origins)
        unreadable = [item for item in unreadable if files.sources[item[0]].target]
        failures = [f"{path}: cannot read it: {why}" for path, why in unreadable]
        failures += [f"{path}: {problem}" for path, problem in files.unlistable.items()]
        return cls(origins, texts, [path for path in texts if files.sources[path].target], failures)


def project_of(given: Sequence[str]) -> Project:
    """The project of the paths of a command line; without paths, its setting `src`, or all of the project around this folder.

    Paths without settings that have different projects belong to the folder around all of them.

    Raises:
        PathError: A path cannot be used, or they belong to several projects.
        ConfigError: The settings cannot be used.
    """
    configs = {config.root: config for config in map(config_of, map(true_path, given or ["."]))}
    if len(configs) == 1:
        (config,) = configs.values()
    elif any(config.path for config in configs.values()):
        shown = " and ".join(map(display_path, configs))
        raise PathError(f"these paths belong to several projects: {shown}; run qten-gen for one at a time")
    else:
        config = Config(os.path.commonpath(configs))
    paths = tuple(given or source_paths(config) or [config.root])
    return Project(paths, config, discover(paths, config))
