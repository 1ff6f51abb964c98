"""Formats diagnostics as text: for people in `concise.py`, for other programs and for GitHub here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model.diagnostics import Diagnostic
from .concise import concise, full, visible

JSON_VERSION = 1
"""Version of the JSON document. It is raised when a key is removed or changes its meaning, but not for a new key."""

_ADVICE = "Run qten-gen and commit the generated files."


class StaleFile(NamedTuple):
    """A generated file that is not as it should be, or was not before the run."""

    path: str
    source: str
    """The file that it is generated from."""
    state: str
    """`stale`, `missing` or `orphan`."""

    @property
    def shown_at(self) -> str:
        """The file beside which it is shown: its source, if there is one."""
        return self.path if self.state == "orphan" else self.source

    @property
    def sentence(self) -> str:
        """`shop/model_qten.py is stale`."""
        words = {"stale": "is stale", "missing": "is missing", "orphan": "is to be removed"}
        return f"{visible(self.path)} {words[self.state]}"


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
            return full(diagnostics, color=color)
        case "concise":
            return concise(diagnostics, color=color)
        case "json":
            return _json(diagnostics, files)
        case "github":
            return "".join(f"{line}\n" for line in (*map(_command, diagnostics), *map(_command_of_stale, files)))
    raise ValueError(f"unknown output format {form!r}")


def _json(diagnostics: Sequence[Diagnostic], files: Sequence[StaleFile]) -> str:
    """`{"version": 1, "diagnostics": [...], "files": [...]}`. Lines and columns count from 1, and are 0 if they are not known."""
    import json

    found = [
        {
            "code": item.code,
            "name": item.kind.name,
            "severity": item.kind.severity,
            "path": item.path,
            "line": item.span.line,
            "column": item.span.column,
            "end_line": item.span.end_line,
            "end_column": item.span.end_column,
            "message": item.message,
            "help": item.help,
            "notes": list(item.notes),
        }
        for item in diagnostics
    ]
    document = {"version": JSON_VERSION, "diagnostics": found, "files": [item._asdict() for item in files]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _command(item: Diagnostic) -> str:
    """The workflow command of GitHub for one diagnostic, `::error file=...,line=...::message`, with help and notes."""
    properties: dict[str, str | int] = {"title": f"{item.code} [{item.kind.name}]", "file": item.path}
    span = item.span
    if span.line:
        properties["line"] = span.line
        properties["endLine"] = span.end_line
        if span.end_line == span.line:  # GitHub rejects columns of a range over several lines
            properties |= {"col": span.column, "endColumn": span.end_column}
    written = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items())
    texts = [item.message, *([f"help: {item.help}"] if item.help else []), *(f"note: {note}" for note in item.notes)]
    return f"::{item.kind.severity} {written}::{_escaped(chr(10).join(texts))}"


def _command_of_stale(file: StaleFile) -> str:
    """The workflow command for a file that is out of date. It is shown beside the source, if there is one."""
    place = f"title=generated file out of date,file={_escaped(file.shown_at, ':,')},line=1"
    return f"::error {place}::{_escaped(f'{file.sentence}. {_ADVICE}')}"


def _escaped(text: str, more: str = "") -> str:
    """The text with the characters that end a command or a property percent-encoded; `more` are further ones.

    GitHub decodes these alone. Other control characters are shown as Python writes them.
    """
    encoded = f"%\r\n{more}"
    return "".join(f"%{ord(character):02X}" if character in encoded else visible(character) for character in text)
