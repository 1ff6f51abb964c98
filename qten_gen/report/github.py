"""The format `github`: workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.diagnostics import Diagnostic
from .concise import visible
from .stale import ADVICE, StaleFile


def github(diagnostics: Sequence[Diagnostic], files: Sequence[StaleFile] = ()) -> str:
    """Each diagnostic as one line, `::error file=...,line=...::message`, and one for each file that is out of date."""
    return "".join(f"{line}\n" for line in (*map(_command, diagnostics), *map(_stale, files)))


def _stale(file: StaleFile) -> str:
    """The workflow command for a file that is out of date. It is shown beside the source, if there is one."""
    place = f"title=generated file out of date,file={_escaped(file.shown_at, ':,')},line=1"
    return f"::error {place}::{_escaped(f'{file.sentence}. {ADVICE}')}"


def _command(item: Diagnostic) -> str:
    """The workflow command for one diagnostic, with help and notes below its message."""
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


def _escaped(text: str, more: str = "") -> str:
    """The text with the characters that end a command or a property percent-encoded; `more` are further ones.

    GitHub decodes these alone. Other control characters are shown as Python writes them.
    """
    encoded = f"%\r\n{more}"
    return "".join(f"%{ord(character):02X}" if character in encoded else visible(character) for character in text)
