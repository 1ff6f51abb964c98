"""The format `github`: workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.diagnostics import Diagnostic


def github(diagnostics: Sequence[Diagnostic]) -> str:
    """Each diagnostic as one line, `::error file=...,line=...::message`."""
    return "".join(f"{_command(item)}\n" for item in diagnostics)


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
    """The text with the characters that end a command or a property percent-encoded; `more` are further ones."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
