"""Applies the settings `severity` and `per-file-ignores` to what a run has found.

They change what is reported, and not what is generated: a warning that counts as an error fails the run, and its file is
generated all the same. So the cache keeps what was found, and these settings are applied in each run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .config import Config
from .walk import Exclusion, exclusion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.diagnostics import Diagnostic


def judged(found: Iterable[Diagnostic], config: Config) -> tuple[Diagnostic, ...]:
    """The diagnostics that the settings leave, with the severities that they give them."""
    from ..common.records import replace

    ignored = [(exclusion((pattern,), config.root), codes) for pattern, codes in config.per_file_ignores]
    severities = dict(config.severity)
    kept = []
    for item in found:
        severity = severities.get(item.code, item.kind.severity)
        if severity == "off" or any(item.code in codes and _covers(is_meant, item.path) for is_meant, codes in ignored):
            continue
        changed = item.kind._replace(severity="error" if severity == "error" else "warning")
        kept.append(item if severity == item.kind.severity else replace(item, kind=changed))
    return tuple(kept)


def _covers(is_meant: Exclusion, path: str) -> bool:
    """True if a pattern matches a file, or a folder that it is in."""
    current = os.path.abspath(path)
    while current != is_meant.base and os.path.dirname(current) != current:
        folder, name = os.path.split(current)
        if is_meant(folder, name):
            return True
        current = folder
    return False
