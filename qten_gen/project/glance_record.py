"""The record of a run that left nothing to do, for the next one to tell at a glance that nothing has changed (see `glance`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from .config import Config
from .distributions import looked_at
from .glance import listing
from .libraries import OWN_PACKAGES, candidates
from .stale import ProjectState


class Glance(NamedTuple):
    """The files and folders of a run that had nothing to do, if they are all that counts (see `is_closed`)."""

    state: ProjectState
    paths: tuple[str, ...]
    config: Config
    settled: str
    """The identity of the run in the manifest."""


def newest(found: Glance) -> int:
    """When one of the files was changed last, in nanoseconds."""
    files = found.state.files
    statuses = [*(source.stat for source in files.sources.values()), *files.outputs.values()]
    return max((max(status.modified, status.changed) for status in statuses), default=0)


def probes_of(found: Glance) -> tuple[str, ...]:
    """The files and folders outside the listings whose status counts, whether they exist or not."""
    state, paths, config, _ = found
    files = state.files
    probes: list[str] = []
    environment = None
    if config.root is not None:
        environment = None if config.environment is None else os.path.join(config.root, config.environment)
        folders = [*(config.source_roots or ()), *((config.environment,) if config.environment is not None else ())]
        # It decides whether `src` is a source root.
        probes += [os.path.join(config.root, folder) for folder in (*folders, "src/__init__.py")]
    probes += [
        os.path.join(folder, "pyproject.toml")
        for folder, seen in files.listings.items()
        if any(entry.name == "pyproject.toml" for entry in seen)
    ]
    # A new one of these files would give the paths another project, or another package.
    for path in paths if config.root is None else [config.root]:
        for folder in (os.path.abspath(path), *_above(path)):
            probes += [os.path.join(folder, "pyproject.toml"), os.path.join(folder, "__init__.py")]
    if config.root is None:
        probes += [os.path.join(folder, "__init__.py") for folder in sorted(files.unlisted)]
        probes += _modules_above(state, config)
    probes += looked_at(environment)
    return tuple(dict.fromkeys(probes))


def listings_of(found: Glance, newest: int | None = None) -> dict[str, str]:
    """The text that the next run compares, for each folder."""
    return {folder: listing(folder, entries, newest) for folder, entries in found.state.files.listings.items()}


def is_closed(state: ProjectState, config: Config) -> bool:
    """Whether everything is listed that an outcome depends on: no file of a library, of an excluded folder, or further up."""
    files, graph = state.files, state.graph
    if not files.listings or files.others or files.unlistable or files.leftovers:
        return False
    if graph.unresolved or state.failures or any(source.outside for source in files.sources.values()):
        return False
    roots = {*config.import_roots, *(origin.root for origin in graph.origins.values())}
    imports = {name for found in graph.scans.values() for name in found.imports}
    return not _leads_out(imports, roots, files.unlisted) and not any(
        map(os.path.exists, _modules_above(state, config))
    )


def _modules_above(state: ProjectState, config: Config) -> list[str]:
    """The files of the modules that imports would lead to above a project without a `pyproject.toml` (see `Dependencies`)."""
    if config.root is not None:
        return []
    heads = {name.partition(".")[0] for found in state.graph.scans.values() for name in found.imports}
    heads -= {*sys.stdlib_module_names, *OWN_PACKAGES}
    folders = dict.fromkeys(
        folder for root in {origin.root for origin in state.graph.origins.values()} for folder in _above(root)
    )
    return [path for folder in folders for head in sorted(heads) for path, _ in candidates(folder, head)]


def _above(path: str) -> Iterator[str]:
    """The folders above a file or folder, the nearest first."""
    folder = os.path.abspath(path)
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        yield folder


def _leads_out(imports: Iterable[str], roots: Iterable[str], unlisted: Collection[str]) -> bool:
    """Whether one of the imported modules may be in a folder that is not listed, where nobody sees files come and go."""
    hidden = {os.path.abspath(path) for path in unlisted}
    names = {os.path.basename(path) for path in hidden}
    folders = [os.path.abspath(root or ".") for root in roots]
    if any(_is_inside(folder, hidden) for folder in folders):
        return True
    # Most names share no part with a folder that is not listed.
    suspects = [name.split(".") for name in imports if not names.isdisjoint(name.split("."))]
    return any(
        os.path.join(folder, *parts[: length + 1]) in hidden
        for parts in suspects
        for folder in folders
        for length in range(len(parts))
    )


def _is_inside(folder: str, hidden: Collection[str]) -> bool:
    return folder in hidden or any(above in hidden for above in _above(folder))
