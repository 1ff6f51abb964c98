"""Formats diagnostics as text, with one function for each format. A format is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.diagnostics import Diagnostic
from .stale import StaleFile as StaleFile


def report(
    form: str,
    diagnostics: Sequence[Diagnostic],
    files: Sequence[StaleFile] = (),
    *,
    color: bool = False,
    version: str = "",
    page: Callable[[str], str] = str,
) -> str:
    """Format located diagnostics in the given order. The text ends with a newline unless it is empty.

    Args:
        form: `"full"` with source lines, `"concise"`, `"json"`, `"github"` or `"sarif"`.
        diagnostics: The diagnostics to format.
        files: Generated files that are out of date, for all but the first two of these formats.
        color: Whether `"full"` and `"concise"` use ANSI colours.
        version: The version of qten-gen, for `"sarif"`.
        page: The documentation of a diagnostic by its code, for `"sarif"`.

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
        case "sarif":
            from .sarif import sarif

            return sarif(diagnostics, files, version=version, page=page)
    raise ValueError(f"unknown output format {form!r}")
