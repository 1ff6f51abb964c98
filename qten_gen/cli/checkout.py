"""Paths as the formats for continuous integration need them: from the top of the checkout, wherever in it a run starts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..common.records import replace
from ..model.diagnostics import Diagnostic
from ..report import StaleFile


def from_top(
    form: str, diagnostics: Sequence[Diagnostic], files: Sequence[StaleFile]
) -> tuple[Sequence[Diagnostic], Sequence[StaleFile]]:
    """The findings with the paths that a format needs. They are as before outside of continuous integration."""
    top = os.environ.get("GITHUB_WORKSPACE")
    if not top or form != "github":
        return diagnostics, files
    root = os.path.join(os.path.realpath(top), "")
    return (
        [replace(item, path=_below(root, item.path)) for item in diagnostics],
        [item._replace(path=_below(root, item.path), source=_below(root, item.source)) for item in files],
    )


def _below(root: str, path: str) -> str:
    """A path from the top, or as it was if it is not below that. A file that is a link keeps its name."""
    folder, name = os.path.split(path)
    whole = os.path.join(os.path.realpath(folder or "."), name)
    return whole.removeprefix(root) if whole.startswith(root) else path
