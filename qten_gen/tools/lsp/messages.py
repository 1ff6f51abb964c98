"""Places and findings as the protocol has them."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ...model.diagnostics import Diagnostic, Span
from ...read.source_lines import lines_of

SOURCE = "qten-gen"

ERROR, WARNING = 1, 2
"""Severities, as the protocol numbers them."""


class Position(TypedDict):
    """A line and a character of a text, counted from 0."""

    line: int
    character: int


class Range(TypedDict):
    """The text between two positions."""

    start: Position
    end: Position


class Shown(TypedDict):
    """A diagnostic in the protocol."""

    range: Range
    message: str
    severity: int
    source: str
    code: NotRequired[str]


class Lines:
    """The lines of a text, between the places of qten-gen and those of an editor.

    qten-gen counts lines and characters from 1. Editors count from 0, and most of them count in units of UTF-16.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self.lines = lines_of(text)
        self._are_points = encoding == "utf-32"
        """Whether the editor counts characters as Python does."""

    def range(self, span: Span) -> Range:
        """The range of a span. One over several lines ends with the first, so that not a whole class is underlined."""
        line = self.lines[span.line - 1] if 0 < span.line <= len(self.lines) else ""
        is_whole = not span.line or not span.column or span.end_line > span.line
        end = len(line) if is_whole else span.end_column - 1
        return self.between((span.line - 1, span.column - 1), (span.line - 1, end))

    def between(self, start: tuple[int, int], end: tuple[int, int]) -> Range:
        """The range between two places, each a line and a character, counted from 0."""
        return {"start": self._position(*start), "end": self._position(*end)}

    def place(self, position: Position) -> tuple[int, int]:
        """The line and the character of a position of an editor, counted from 0."""
        line, units = position["line"], position["character"]
        if self._are_points or line >= len(self.lines):
            return line, units
        before = self.lines[line].encode("utf-16-le", "surrogatepass")[: 2 * units]
        return line, len(before.decode("utf-16-le", "replace"))

    def _position(self, line: int, character: int) -> Position:
        line = max(0, min(line, len(self.lines) - 1))
        before = self.lines[line][: max(0, character)]
        units = len(before) if self._are_points else len(before.encode("utf-16-le", "surrogatepass")) // 2
        return {"line": line, "character": units}

    def place_of(self, offset: int) -> tuple[int, int]:
        """The line and the character at an offset of the text whose lines all end with one character."""
        for number, line in enumerate(self.lines):
            if offset <= len(line):
                return number, offset
            offset -= len(line) + 1
        return len(self.lines) - 1, len(self.lines[-1])


def message(item: Diagnostic, lines: Lines) -> Shown:
    """A finding, with help and notes below its message."""
    texts = [item.message, *([f"help: {item.help}"] if item.help else []), *(f"note: {note}" for note in item.notes)]
    shown: Shown = {
        "range": lines.range(item.span),
        "message": "\n".join(texts),
        "severity": ERROR if item.is_error else WARNING,
        "source": SOURCE,
    }
    return {**shown, "code": item.code} if item.code else shown
