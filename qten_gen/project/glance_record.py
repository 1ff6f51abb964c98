"""What a run with nothing to do looked at, for the next one to tell at a glance that nothing has changed (see `glance`)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from .config import Config
from .distributions import looked_at
from .files import ProjectFiles
from .glance import listing


class Glance(NamedTuple):
    """What a run looked at that had nothing to do (see `glance`)."""

    cache: str
    """The folder that holds what is remembered."""
    probes: tuple[str, ...]
    """Files and folders outside the listings whose status counts, whether they exist or not."""
    seen: Mapping[str, Sequence[os.DirEntry[str]]]
    """What the walk saw of each folder, by its path."""
    newest: int
    """When one of the files was changed last, in nanoseconds."""


def glance_of(files: ProjectFiles, config: Config, cache: str) -> Glance | None:
    """What a run over an unchanged tree has looked at; None if the next one has to look closer.

    Without a `pyproject.toml`, imports lead to folders that are not listed.
    """
    if config.root is None or not files.listings or files.others or files.unlistable or files.leftovers:
        return None
    environment = None if config.environment is None else os.path.join(config.root, config.environment)
    folders = [*(config.source_roots or ()), *((config.environment,) if config.environment is not None else ())]
    probes = [os.path.join(config.root, folder) for folder in (*folders, "src/__init__.py")]
    settings = "pyproject.toml"
    probes += [
        os.path.join(folder, settings)
        for folder, seen in files.listings.items()
        if any(entry.name == settings for entry in seen)
    ]
    folder = os.path.abspath(config.root)
    while True:
        probes += [os.path.join(folder, "pyproject.toml"), os.path.join(folder, "__init__.py")]
        if os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    statuses = [*(source.stat for source in files.sources.values()), *files.outputs.values()]
    newest = max((max(status.modified, status.changed) for status in statuses), default=0)
    return Glance(cache, tuple(dict.fromkeys([*probes, *looked_at(environment)])), files.listings, newest)


def listings_of(found: Glance) -> dict[str, str]:
    """What the next run compares of each folder. Most runs that had nothing to do follow an edit, and need none."""
    return {folder: listing(folder, entries) for folder, entries in found.seen.items()}


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
