"""Remembers that a run had nothing to do, so that the next one over the same files is told so by their status alone.

The manifest knows more, but it has to be read and compared file by file. Here one digest stands for all: over the path, size,
times and inode of each file, the settings, the paths of the run, the generator, and the folders in which libraries are installed.
If anything differs, the run goes on as if there were no such digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from . import manifest
from .config import Config
from .distributions import looked_at, search_path
from .files import ProjectFiles
from .glance import FOLDER
from .paths import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.diagnostics import Diagnostic

_NAME = "unchanged.json"

COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes may get the same time."""


class Unchanged(NamedTuple):
    """What a run with nothing to do found."""

    sources: int
    up_to_date: int
    warnings: tuple[Diagnostic, ...] = ()
    """With their paths as messages show them."""


class Glance(NamedTuple):
    """What a run looked at that had nothing to do (see `glance`)."""

    cache: str
    """The folder that holds what is remembered."""
    probes: tuple[str, ...]
    """Files and folders outside the listings whose status counts, whether they exist or not."""
    listings: Mapping[str, str]
    """What the walk saw of each folder, by its path."""


def state_of(files: ProjectFiles, config: Config, now: int) -> str | None:
    """The digest of all that a run depends on. None if that is not known, or has changed just before `now`.

    Without a `pyproject.toml`, imports lead to folders that are not listed.
    """
    if config.root is None or files.unlistable or files.leftovers:
        return None
    lines = [f"{manifest.generator()} {os.getcwd()} {config}"]
    for folder in sorted({folder for folders in search_path(_environment(config)) for folder in folders}):
        try:
            lines.append(f"{folder} {os.stat(folder).st_mtime_ns}")
        except OSError:
            lines.append(folder)
    lines += sorted(files.unlisted)
    newest = 0
    for path, source in files.sources.items():
        newest = max(newest, source.stat.modified, source.stat.changed)
        lines.append(f"{path} {source.stat[:]} {source.target} {source.origin.module}")
    for path, status in files.outputs.items():
        newest = max(newest, status.modified, status.changed)
        lines.append(f"{path} {status[:]}")
    if newest >= now - COARSE_CLOCK:
        return None
    return manifest.digest("\n".join(lines).encode("utf-8", "surrogateescape"))


def leads_out(imports: Iterable[str], roots: Iterable[str], unlisted: Collection[str]) -> bool:
    """Whether one of the imported modules may be in a folder that is not listed, where nobody sees files come and go."""
    hidden = {os.path.abspath(path) for path in unlisted}
    names = {os.path.basename(path) for path in hidden}
    folders = [os.path.abspath(root or ".") for root in roots]
    if any(_is_inside(folder, hidden) for folder in folders):
        return True
    suspects = [name.split(".") for name in imports if not names.isdisjoint(name.split("."))]
    return any(
        os.path.join(folder, *parts[: length + 1]) in hidden
        for parts in suspects
        for folder in folders
        for length in range(len(parts))
    )


def _is_inside(folder: str, hidden: Collection[str]) -> bool:
    while folder not in hidden:
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


def glance_of(files: ProjectFiles, config: Config, cache: str) -> Glance | None:
    """What a run over an unchanged tree has looked at; None if the next one has to look closer."""
    if config.root is None or not files.listings or files.others:
        return None
    folders = [*(config.source_roots or ()), *((config.environment,) if config.environment is not None else ())]
    probes = [os.path.join(config.root, folder) for folder in (*folders, "src/__init__.py")]
    probes += [os.path.join(folder, "pyproject.toml") for folder, seen in files.listings.items() if ".toml " in seen]
    folder = os.path.abspath(config.root)
    while True:
        probes += [os.path.join(folder, "pyproject.toml"), os.path.join(folder, "__init__.py")]
        if os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    return Glance(cache, tuple(dict.fromkeys([*probes, *looked_at(_environment(config))])), files.listings)


def _environment(config: Config) -> str | None:
    root = config.root
    return None if root is None or config.environment is None else os.path.join(root, config.environment)


def load(root: str, state: str) -> Unchanged | None:
    """What the last run with nothing to do found, if it found the files in this state; None otherwise."""
    try:
        with open(os.path.join(root, FOLDER, _NAME), "rb") as file:
            document = json.load(file)
        if document["state"] != state:
            return None
        sources, up_to_date, warnings = document["found"]
        if type(sources) is not int or type(up_to_date) is not int:
            return None
        return Unchanged(sources, up_to_date, tuple(manifest.warning(entry, path) for path, entry in warnings))
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError):
        return None


def save(root: str, state: str, found: Unchanged) -> None:
    """Write what a run with nothing to do found. If that fails, the next run is slower."""
    warnings = [[display_path(item.path), manifest.warning_entry(item)] for item in found.warnings]
    document = {"state": state, "found": [found.sources, found.up_to_date, warnings]}
    manifest.write(root, _NAME, json.dumps(document, separators=(",", ":")))
