"""Formats diagnostics as text, with one function for each format. A format is imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.diagnostics import Diagnostic
from .stale import StaleFile as StaleFile


def report(
    form: str,
    diagnostics: Sequence[Diagnostic],
    files: Sequence[StaleFile] = (),
    *,
    color: bool = False,
) -> str:
    """Format located diagnostics in the given order. The text ends with a newline unless it is empty.

    Args:
        form: `"full"` with source lines, `"concise"`, `"json"` or `"github"`.
        diagnostics: The diagnostics to format.
        files: Generated files that are out of date, for all but the first two of these formats.
        color: Whether `"full"` and `"concise"` use ANSI colours.

    Raises:
        ValueError: `form` is not one of these formats.
    """
    match form:
        case "full":
            from .full import full

            return full(diagnostics, color=color)
        case "concise":
            from .concise import concise

            return concise(diagnostics, color=color)
        case "json":
            from .json import as_json

            return as_json(diagnostics, files)
        case "github":
            from .github import github

            return github(diagnostics, files)
    raise ValueError(f"unknown output format {form!r}")
