"""Carries out `qten-gen --watch`: runs again whenever a source, a folder or the settings of the project change.

Only folders that a run lists are watched, each on its own: an environment or a cache in the project has thousands of others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import TextIO

from ..project.apply import is_temporary
from ..project.config import ConfigError
from ..project.files import PathError, project_of
from ..project.output_names import is_output
from ..project.paths import NO_OUTPUT, read_output
from ..project.walk import EXCLUDED
from ..report.concise import headline
from ..run.run import run
from . import DONE, MISUSE
from .options import Options, output_format
from .printing import print_outcome

_MISSING = "error: --watch needs the library watchfiles; install it with: python -m pip install watchfiles\n"


def watch(options: Options, out: TextIO, err: TextIO) -> int:
    """Run, and run again after each change, until the user interrupts that. Return the exit status.

    Raises:
        PathError: A path does not exist when the watch begins, or is not a Python source.
        ConfigError: The settings cannot be used when the watch begins. Later mistakes in them are printed.
    """
    try:
        import watchfiles
    except ImportError:
        err.write(_MISSING)
        return MISUSE
    folders = _folders(options)
    written: dict[str, bytes | None] = {}
    # An editor that saves a file makes several changes, which step and debounce (in milliseconds) put together.
    follow = partial(watchfiles.watch, watch_filter=None, recursive=False, step=10, debounce=200)
    try:
        while True:
            try:
                with closing(follow(*sorted(folders), rust_timeout=100, yield_on_timeout=True)) as changes:
                    found = next(changes)  # before the first run: what changes during that is news
                    while True:
                        if any(_is_being_saved(path) for _, path in found):
                            time.sleep(0.1)
                        _print_run(options, written, out, err)
                        found = set()
                        while not found:
                            found = {item for item in next(changes) if _matters(*item, folders, written)}
                        if any(not path.endswith((".py", ".pyi")) for _, path in found):
                            before, folders = folders, _folders_now(options, folders)
                            if folders != before:
                                break
            except FileNotFoundError:  # a folder has gone before it could be watched
                folders = _folders_now(options, folders)
            except OSError as error:
                err.write(f"error: cannot watch the project: {error}; WATCHFILES_FORCE_POLLING=1 may help\n")
                return MISUSE
    except KeyboardInterrupt:
        return DONE


def _matters(kind: int, path: str, folders: frozenset[str], written: Mapping[str, bytes | None]) -> bool:
    """True if a change of a path calls for a run. Kind 1 is a new path, 2 a changed one, 3 one that is gone."""
    name = os.path.basename(path)
    if is_temporary(name):
        return False
    if is_output(name):  # an output as a run has left it is no news
        return path not in written or written[path] != (read_output(path) if os.path.lexists(path) else None)
    if path in folders:
        return kind != 2
    is_new_folder = kind == 1 and not name.startswith(".") and name not in EXCLUDED and os.path.isdir(path)
    return name == "pyproject.toml" or name.endswith(".py") or is_new_folder


def _is_being_saved(path: str) -> bool:
    """True if a source is gone or empty: some editors save in two steps."""
    return path.endswith(".py") and not is_output(path) and read_output(path) in (b"", NO_OUTPUT)


def _print_run(options: Options, written: dict[str, bytes | None], out: TextIO, err: TextIO) -> None:
    """Run once, and print what was found and done. A mistake that stops the run is printed, too."""
    started, at = time.perf_counter(), time.strftime("%H:%M:%S ")
    try:
        outcome = run(project_of(options.paths))
    except ConfigError as error:
        err.write(f"{at}{headline(error.diagnostic, color=False)}\n")
    except PathError as error:
        err.write(f"{at}error: {error}\n")
    else:
        written.update({os.path.abspath(change.path): change.new for change in outcome.changes})
        if output_format(options) == "json":
            options.output_format = "concise"
        print_outcome(outcome, options, time.perf_counter() - started, out, err, at=at)
    out.flush()
    err.flush()


def _folders(options: Options) -> frozenset[str]:
    """The folders of all sources of the project, and the source roots elsewhere that it imports from."""
    project = project_of(options.paths)
    folders = {*project.files.folders, project.config.root}
    for root in project.config.import_roots:
        for folder, names, _ in os.walk(root) if root not in folders else ():
            names[:] = [name for name in names if not name.startswith(".") and name not in EXCLUDED]
            folders.add(folder)
    return frozenset(map(os.path.abspath, folders))


def _folders_now(options: Options, before: frozenset[str]) -> frozenset[str]:
    """The folders to watch after a change. If that is not known: the earlier ones that still exist, and the working folder."""
    try:
        return _folders(options)
    except (ConfigError, PathError, OSError):
        return frozenset(filter(os.path.isdir, {*before, os.getcwd()}))
