"""The identity of the generator at the moment. What a run has remembered counts only for the same one."""

from __future__ import annotations

import os
import sys
from functools import cache

from .. import __version__
from ..common.format_number import FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of `qten_gen`."""


def state(package: str = PACKAGE) -> str:
    """The version, the format number and the Python version.

    For people who work on the generator, it also has the size and time of every module in `package` and of the templates.
    """
    files = _own() if package == PACKAGE else _modules(package)
    return "\n".join([f"{__version__} {FORMAT} {sys.version_info[:2]}", *files])


@cache
def _own() -> list[str]:
    """The lines for the generator that runs: as its files were when it was first asked, which a run does four times."""
    return _modules(PACKAGE)


def _modules(package: str) -> list[str]:
    folders = [package, os.path.join(os.path.dirname(package), "templates")]
    return [line for folder in folders for line in _files(folder)]


def _files(folder: str) -> Iterator[str]:
    """Name, size and time of every file of the generator below a folder."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            # Generated code calls the runtime, but the generator does not use it.
            if entry.name not in ("__pycache__", "runtime"):
                yield from _files(entry.path)
        elif not entry.name.endswith(".pyc"):
            status = entry.stat()
            yield f"{entry.name} {status.st_size} {status.st_mtime_ns}"
