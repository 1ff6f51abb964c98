"""Findings as the protocol has them."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from ...model.diagnostics import Diagnostic, Span
from ...read.source_lines import lines_of

SOURCE = "qten-gen"


class Lines:
    """The lines of a text, between the places of qten-gen and those of an editor.

    qten-gen counts lines and characters from 1. Editors count from 0, and most of them count in units of UTF-16.
    """

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.lines = lines_of(text)
        self._codec = codec

    def range(self, span: Span) -> types.Range:
        """The range of a span. One over several lines ends with the first, so that not a whole class is underlined."""
        line = self.lines[span.line - 1] if 0 < span.line <= len(self.lines) else ""
        is_whole = not span.line or not span.column or span.end_line > span.line
        end = len(line) if is_whole else span.end_column - 1
        return self.between((span.line - 1, span.column - 1), (span.line - 1, end))

    def between(self, start: tuple[int, int], end: tuple[int, int]) -> types.Range:
        """The range between two places, each a line and a character, counted from 0."""
        return types.Range(self._position(*start), self._position(*end))

    def place(self, position: types.Position) -> tuple[int, int]:
        """The line and the character of a position of an editor, counted from 0."""
        found = self._codec.position_from_client_units(self.lines, position)
        return found.line, found.character

    def _position(self, line: int, character: int) -> types.Position:
        line = max(0, min(line, len(self.lines) - 1))
        before = self.lines[line][: max(0, character)]
        return types.Position(line, self._codec.client_num_units(before))

    def place_of(self, offset: int) -> tuple[int, int]:
        """The line and the character at an offset of the text whose lines all end with one character."""
        for number, line in enumerate(self.lines):
            if offset <= len(line):
                return number, offset
            offset -= len(line) + 1
        return len(self.lines) - 1, len(self.lines[-1])


def message(item: Diagnostic, lines: Lines) -> types.Diagnostic:
    """A finding, with help and notes below its message."""
    texts = [item.message, *([f"help: {item.help}"] if item.help else []), *(f"note: {note}" for note in item.notes)]
    severity = types.DiagnosticSeverity.Error if item.is_error else types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        range=lines.range(item.span), message="\n".join(texts), severity=severity, code=item.code or None, source=SOURCE
    )


def messages(found: Sequence[Diagnostic], lines: Lines) -> list[types.Diagnostic]:
    """The findings of one file."""
    return [message(item, lines) for item in found]
