"""Carries out `qten-gen --watch`: lists the project again and again, and runs whenever anything differs."""

from __future__ import annotations

import time
from typing import TextIO

from ..project.config import ConfigError
from ..project.files import PathError, project_of
from ..report.concise import headline
from ..run.run import run
from . import DONE
from .options import Options, output_format
from .printing import print_outcome

_INTERVAL = 0.3
"""The seconds between two looks at a project; ten times as long as a look takes, where that is more."""
_SAVING = 0.15
"""The seconds for which files have to stay as they are before a run. Some editors save a file in two steps."""


def watch(options: Options, out: TextIO, err: TextIO) -> int:
    """Run, and run again after each change, until the user interrupts that. Return the exit status.

    Raises:
        PathError: A path does not exist when the watch begins, or is not a Python source.
        ConfigError: The settings cannot be used when the watch begins. Later mistakes in them are printed.
    """
    project_of(options.paths)
    seen: tuple[object, object] | None = None
    try:
        while True:
            began = time.perf_counter()
            now = _listing(options)
            taken = time.perf_counter() - began
            if now == seen:
                time.sleep(max(_INTERVAL, 10 * taken))
                continue
            time.sleep(0 if seen is None else _SAVING)
            if _listing(options) == now:
                _print_run(options, out, err)
                # Outputs as the run has left them are no news. A source that has changed meanwhile is.
                seen = now[0], _listing(options)[1]
    except KeyboardInterrupt:
        return DONE


def _listing(options: Options) -> tuple[object, object]:
    """The settings and the sources of the project, and its outputs, with what shows whether they have changed."""
    try:
        project = project_of(options.paths)
    except (ConfigError, PathError) as error:
        return str(error), None
    return (
        project.config,
        {path: source.stat for path, source in project.files.sources.items()},
    ), project.files.outputs


def _print_run(options: Options, out: TextIO, err: TextIO) -> None:
    """Run once, and print what was found and done. A mistake that stops the run is printed, too."""
    started, at = time.perf_counter(), time.strftime("%H:%M:%S ")
    try:
        outcome = run(project_of(options.paths))
    except ConfigError as error:
        err.write(f"{at}{headline(error.diagnostic, color=False)}\n")
    except PathError as error:
        err.write(f"{at}error: {error}\n")
    else:
        if output_format(options) == "json":
            options.output_format = "concise"
        print_outcome(outcome, options, time.perf_counter() - started, out, err, at=at)
    out.flush()
    err.flush()
