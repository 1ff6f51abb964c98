"""Carries out `qten-gen --watch`: runs again whenever a source, a folder or the settings of the project change.

Only folders that a run lists are watched, each on its own: an environment or a cache in the project has thousands of others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TextIO

from ..project.config import ConfigError, Settings
from ..project.files import PathError
from ..project.output_names import is_output
from ..project.paths import read_output
from ..project.temporary import is_temporary
from ..project.walk import EXCLUDED
from ..report.concise import headline
from ..run.memory import Memory
from ..run.parts import parts
from ..run.run import run
from . import DONE, MISUSE
from .answering import answering
from .options import GenerateOptions, given_paths, output_format
from .printing import print_outcome

if TYPE_CHECKING:
    from watchfiles import Change as Kind

_STEP = 10
"""Milliseconds without a further change after which a run starts. An editor that saves a file makes several changes."""

_LONGEST = 200
"""Milliseconds after which a run starts, however many changes follow each other."""

_WAKING = 100
"""Milliseconds after which waiting begins anew."""

_SETTLING = 0.1
"""Seconds that a source which is gone or empty gets to come back, because some editors save in two steps."""

_MISSING = "error: --watch needs the library watchfiles; install it with: python -m pip install watchfiles\n"


class _Watched(NamedTuple):
    """The folders that are watched."""

    folders: frozenset[str]

    def matters(self, kind: int, path: str, written: Mapping[str, bytes | None]) -> bool:
        """Whether a change of a path calls for a run.

        Args:
            kind: 1 for a new path, 2 for a changed one, 3 for one that is gone.
            path: The path.
            written: The outputs as runs have left them. They are no news.
        """
        name = os.path.basename(path)
        if is_temporary(name):
            return False
        if is_output(name):
            return path not in written or written[path] != _content(path)
        return name == "pyproject.toml" or name.endswith(".py") or self.is_folder(kind, path)

    def is_folder(self, kind: int, path: str) -> bool:
        """Whether a folder has come, or one that is watched has gone."""
        if path in self.folders:
            return kind != 2
        name = os.path.basename(path)
        return kind == 1 and not name.startswith(".") and name not in EXCLUDED and os.path.isdir(path)


class _Runs(NamedTuple):
    """The state that the runs of a watch share."""

    options: GenerateOptions
    written: dict[str, bytes | None]
    """The outputs as these runs have left them."""
    memory: Memory
    busy: Lock
    """Taken while something is generated."""
    out: TextIO
    err: TextIO


def watch(options: GenerateOptions, main: Callable[..., int], out: TextIO, err: TextIO) -> int:
    """Run, and run again after each change, until the user interrupts that. Return the exit status.

    Between these runs, `main` carries out other commands for the project (see `answering`).

    Raises:
        PathError: A path does not exist when the watch begins, or is not a Python source.
        ConfigError: The settings cannot be used when the watch begins. Later mistakes in them are printed.
    """
    try:
        import watchfiles
    except ImportError:
        err.write(_MISSING)
        return MISUSE
    watched = _watched(options)
    runs = _Runs(options, {}, Memory(), Lock(), out, err)
    try:
        with answering(_root(options), partial(main, memory=runs.memory), runs.busy):
            while True:
                changes = watchfiles.watch(
                    *sorted(watched.folders),
                    watch_filter=None,
                    recursive=False,
                    step=_STEP,
                    debounce=_LONGEST,
                    rust_timeout=_WAKING,
                    yield_on_timeout=True,
                )
                try:
                    with closing(changes):
                        watched = _until_folders_change(changes, watched, runs)
                except FileNotFoundError:  # a folder has gone before it could be watched
                    watched = _watched_now(options, watched)
                except OSError as error:
                    err.write(f"error: cannot watch the project: {error}; WATCHFILES_FORCE_POLLING=1 may help\n")
                    return MISUSE
    except KeyboardInterrupt:
        return DONE


def _until_folders_change(
    changes: Iterator[set[tuple[Kind, str]]],
    watched: _Watched,
    runs: _Runs,
) -> _Watched:
    """Run at once and after each change, until other folders have to be watched, and return these."""
    found = next(changes)
    while True:
        _settle(path for _, path in found)
        with runs.busy:
            _print_run(runs)
        while True:
            found = {(kind, path) for kind, path in next(changes) if watched.matters(kind, path, runs.written)}
            if any(watched.is_folder(kind, path) or path.endswith(".toml") for kind, path in found):
                now = _watched_now(runs.options, watched)
                if now != watched:
                    return now
            if found:
                break


def _settle(paths: Iterable[str]) -> None:
    """Wait a little if a source is gone or empty."""
    for path in paths:
        if path.endswith(".py") and not is_output(path) and not _content(path):
            time.sleep(_SETTLING)
            return


def _content(path: str) -> bytes | None:
    return read_output(path) if os.path.lexists(path) else None


def _print_run(runs: _Runs) -> None:
    """Run once, and print what was found and done. A mistake that stops the run is printed, too."""
    options, out, err = runs.options, runs.out, runs.err
    started = time.perf_counter()
    at = time.strftime("%H:%M:%S ")
    try:
        settings = Settings()
        config = settings.of(options.paths[0] if options.paths else ".")
        paths = given_paths(options.paths, config)
        outcome = run(paths, settings, explains=options.verbose, memory=runs.memory)
    except ConfigError as error:
        err.write(f"{at}{headline(error.diagnostic, color=False)}\n")
    except PathError as error:
        err.write(f"{at}error: {error}\n")
    else:
        runs.written.update({os.path.abspath(change.path): change.new for change in outcome.changes})
        if output_format(options, config) == "json":
            options = options._replace(output_format="concise")
        print_outcome(outcome, options, config, time.perf_counter() - started, out, err, at=at)
    out.flush()
    err.flush()


def _root(options: GenerateOptions) -> str:
    """The folder with the settings of the watched project, or the first path if there are none.

    Raises:
        ConfigError: The settings cannot be used.
    """
    path = options.paths[0] if options.paths else "."
    return Settings().of(path).root or (path if os.path.isdir(path) else os.path.dirname(path) or ".")


def _watched(options: GenerateOptions) -> _Watched:
    """The folders of all sources of the projects, and those that sources of other projects are imported from.

    Raises:
        PathError: A path does not exist, or is not a Python source.
        ConfigError: The settings of a project cannot be used.
    """
    settings = Settings()
    paths = given_paths(options.paths, settings.of(options.paths[0] if options.paths else "."))
    folders = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths}
    for part in parts(paths, settings):
        folders |= part.files.folders
        if part.config.root is not None:
            folders.add(part.config.root)
        for root in part.config.import_roots:
            if root not in folders and os.path.isdir(root):
                folders.update(_below(root))
    return _Watched(frozenset(map(os.path.abspath, folders)))


def _below(root: str) -> Iterator[str]:
    """A folder and the folders below it, as far as a run may read them."""
    for folder, names, _ in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".") and name not in EXCLUDED]
        yield folder


def _watched_now(options: GenerateOptions, before: _Watched) -> _Watched:
    """The folders to watch after a change. If that is not known: the earlier ones that still exist, and the working folder."""
    try:
        return _watched(options)
    except (ConfigError, PathError, OSError):
        return _Watched(frozenset(filter(os.path.isdir, {*before.folders, os.getcwd()})))
