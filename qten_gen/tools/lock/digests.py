"""Digests of the declarations that a lock follows from, by which a run of the generator tells that the lock may be stale.

They stand in the headers of generated files, so nothing of the user's code is read, and what a method does is not in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ...project.output_names import outputs_of
from .lock_text import LockError, read

_DIGEST = re.compile(rb"^# qten-gen: .*\bbody=(\w+)", re.MULTILINE)
_HEADER = 1000
"""The header of a generated file is shorter."""


def digests(sources: Iterable[str], root: str) -> dict[str, str]:
    """The digest of the generated file of each source below a folder that has one, by its path there."""
    found: dict[str, str] = {}
    for source in sorted(set(sources)):
        generated = outputs_of(source)[0]
        path = os.path.relpath(generated, root).replace(os.sep, "/")
        digest = "" if path.startswith("..") else _digest(generated)
        if digest:
            found[path] = digest
    return found


def stale(locks: Iterable[str], root: str) -> Iterator[str]:
    """The locks, paths of files that exist, whose declarations have changed since they were written."""
    for path in filter(os.path.exists, locks):
        try:
            with open(path, encoding="utf-8") as file:
                declarations = read(file.read()).declarations
        except (OSError, UnicodeDecodeError, LockError):
            continue  # which `qten-gen lock` reports
        if any(_digest(os.path.join(root, name)) != seen for name, seen in declarations.items()):
            yield path


def _digest(generated: str) -> str:
    """The digest in the header of a generated file; empty if it has none."""
    try:
        with open(generated, "rb") as file:
            found = _DIGEST.search(file.read(_HEADER))
    except OSError:
        return ""
    return "" if found is None else found[1].decode()
