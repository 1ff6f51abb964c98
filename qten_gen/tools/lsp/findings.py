"""Findings as the protocol has them: where they are, what is shown over them, and the actions that mend or suppress them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NotRequired, TypedDict

from ...generate.suppression import can_be_suppressed
from ...model.diagnostics import Diagnostic, Fix, Span
from ...read.suppressions import suppressions
from ...read.syntax import lines_of, parse
from ...rules import RULES
from ...rules.rule import page
from .protocol import FIX_ALL, GENERATE, Json


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
    """The lines of a text, between the places of qten-gen and of an editor.

    qten-gen counts lines and characters from 1. Editors count from 0, and most of them count in units of UTF-16.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self.lines = lines_of(text)
        self._are_points = encoding == "utf-32"
        """The editor counts characters as Python does."""

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

    def offset(self, place: tuple[int, int]) -> int:
        """How many characters stand before a place in the text whose lines all end with one character."""
        return sum(len(line) + 1 for line in self.lines[: place[0]]) + place[1]


def message(item: Diagnostic, lines: Lines) -> Shown:
    """A finding, with help and notes below its message."""
    texts = [item.message, *([f"help: {item.help}"] if item.help else []), *(f"note: {note}" for note in item.notes)]
    shown: Shown = {
        "range": lines.range(item.span),
        "message": "\n".join(texts),
        "severity": 1 if item.is_error else 2,  # an error and a warning, as the protocol numbers them
        "source": "qten-gen",
    }
    return {**shown, "code": item.code} if item.code else shown


def over_findings(found: Iterable[Diagnostic], line: int) -> str | None:
    """The pages of the rules whose findings begin in a line, as Markdown."""
    codes = dict.fromkeys(item.code for item in found if item.span.line == line + 1)
    pages = [page(rule) for code in codes for rule in RULES if rule.kind.code == code]
    return "\n\n---\n\n".join(pages) or None


def actions(found: Sequence[Diagnostic], uri: str, version: int | None, lines: Lines, range: Range) -> list[Json]:
    """The actions in a range of a file, at the findings in its text; `version` is the editor's number of the text."""
    offered: list[Json] = []
    for item in found:
        shown = message(item, lines)
        start, end = shown["range"]["start"], shown["range"]["end"]
        if start["line"] <= range["end"]["line"] and range["start"]["line"] <= end["line"]:
            for title, edits, is_preferred in _proposals(item, lines):
                fix: Json = {
                    "title": title,
                    "kind": "quickfix",
                    "diagnostics": [shown],
                    "edit": _edit(edits, uri, version),
                }
                offered.append({**fix, **({"isPreferred": True} if is_preferred else {})})
    everything = _mending([item.fix for item in found if item.fix is not None and item.fix.is_sure], lines)
    if everything:
        edit = _edit(everything, uri, version)
        offered.append({"title": "qten-gen: mend what can be mended", "kind": FIX_ALL, "edit": edit})
    title = "qten-gen: write the generated files"
    command = {"title": title, "command": GENERATE, "arguments": [uri]}
    return [*offered, {"title": title, "kind": "source.qten-gen", "command": command}]


def _proposals(item: Diagnostic, lines: Lines) -> Iterator[tuple[str, list[Json], bool]]:
    """What may be done about a finding: the title, the edits, and True for what is surely meant."""
    fix = item.fix
    mending = [] if fix is None else _mending([fix], lines)
    if fix is not None and mending:
        how = f"insert {fix.text.strip()!r}" if fix.is_behind else f"change to {fix.text!r}"
        yield f"{item.code}: {how}", mending, fix.is_sure
    silencing = _suppressing(item, lines)
    if silencing:
        yield f"Ignore {item.code} here", silencing, False


def _mending(fixes: Iterable[Fix], lines: Lines) -> list[Json]:
    """The edits of fixes, of several at one place the first one's; none if the text would not be Python any more."""
    edits: list[Json] = []
    text = "\n".join(lines.lines)
    end = len(text)
    for _, span, fix in sorted(((fix.span[:2], fix.span, fix) for fix in fixes), key=itemgetter(0), reverse=True):
        last = (span.end_line - 1, span.end_column - 1)
        first = last if fix.is_behind else (span.line - 1, span.column - 1)
        start, stop = lines.offset(first), lines.offset(last)
        if stop <= end:
            text, end = text[:start] + fix.text + text[stop:], start
            edits.append({"range": lines.between(first, last), "newText": fix.text})
    return edits if isinstance(parse(text, ""), ast.Module) else []


def _edit(edits: list[Json], uri: str, version: int | None) -> Json:
    return {"documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": edits}]}


def _suppressing(item: Diagnostic, lines: Lines) -> list[Json]:
    """The edit that adds a comment which suppresses a finding; none if there can be no comment.

    The comment goes to the end of the first line, or of the last one if the first cannot end with a comment.
    """
    if not can_be_suppressed(item.code) or not item.span.line:
        return []
    for number in dict.fromkeys((item.span.line, item.span.end_line)):
        line = lines.lines[number - 1]
        known = re.search(r"#\s*qten-gen:\s*ignore\[([^\]]*)", line)
        comma = ", " if known is not None and known[1].strip() else ""
        place = (number - 1, len(line.rstrip()) if known is None else known.end())
        comment = f"  # qten-gen: ignore[{item.code}]" if known is None else f"{comma}{item.code}"
        start = lines.offset(place)
        whole = "\n".join(lines.lines)
        new = whole[:start] + comment + whole[start:]
        if not isinstance(parse(new, ""), ast.Module):
            continue  # the line goes on in the next one
        if any(each.line == number and item.code in dict(each.codes) for each in suppressions(new)):
            return [{"range": lines.between(place, place), "newText": comment}]
    return []
