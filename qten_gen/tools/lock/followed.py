"""The files that a lock follows from. While none of them changes, the lock is as the code says (see `cli/glance.py`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ..inspect.documents import split


def followed(lock: str) -> frozenset[str]:
    """All files that Python has imported, and the lock itself; of Python and torch, one file stands for all.

    The folders in which Python looks for modules count too: one that is added there may be imported in place of another.
    """
    standard = os.path.dirname(os.__file__)
    torch = f"{os.sep}torch{os.sep}"
    modules = [vars(module) for module in list(sys.modules.values())]
    places = [names.get("__file__") for names in modules]
    files = {file for file in places if isinstance(file, str)}
    own = {file for file in files if not file.startswith(standard) or "-packages" in file}
    kept = {file for file in own if torch not in file or file.endswith(f"{torch}__init__.py")}
    lists = [names.get("__path__") or () for names in modules if names.get("__file__") is None]
    without_init = {folder for paths in lists for folder in paths if isinstance(folder, str)}
    folders = {*map(os.path.dirname, kept), *without_init, *map(os.path.abspath, sys.path)}
    return frozenset({*kept, *folders, sys.executable, os.path.abspath(lock)})


def documents(places: Iterable[str], root: str) -> set[str]:
    """The files of lists and settings, by places such as `configs/lora.yaml:target_modules`."""
    return {os.path.join(root, split(place)[0]) for place in places}
