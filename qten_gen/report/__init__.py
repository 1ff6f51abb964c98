"""Diagnostics → text, one function a format. A format is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.diagnostics import Diagnostic


def report(form: str, diagnostics: Sequence[Diagnostic], *, color: bool = False) -> str:
    """The text for located diagnostics, in the order given; it ends with a newline unless it is empty.

    Args:
        form: `"full"` with source lines, `"concise"`, `"json"` or `"github"`.
        diagnostics: What to show.
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

            return as_json(diagnostics)
        case "github":
            from .github import github

            return github(diagnostics)
    raise ValueError(f"unknown output format {form!r}")
