"""Findings as the protocol has them: where they are, what is shown over them, and the actions that mend or suppress them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NotRequired, TypedDict

from ...generate.suppression import can_be_suppressed
from ...model.diagnostics import Diagnostic, Fix, Span
from ...read.suppressions import suppressions
from ...read.syntax import decode, lines_of
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
        "severity": 1 if item.is_error else 2,  # an error and a warning, as the protocol numbers them
        "source": "qten-gen",
    }
    return {**shown, "code": item.code} if item.code else shown


def over_findings(found: Iterable[Diagnostic], line: int) -> str | None:
    """The pages of the rules whose findings begin in a line, as Markdown."""
    codes = dict.fromkeys(item.code for item in found if item.span.line == line + 1)
    pages = [page(rule) for code in codes for rule in RULES if rule.kind.code == code]
    return "\n\n---\n\n".join(pages) or None


def actions(
    found: Sequence[Diagnostic], data: bytes, uri: str, version: int | None, lines: Lines, range: Range
) -> list[Json]:
    """The actions in a range of a file, at the findings in its text; `version` is the editor's number of the text."""
    text = decode(data, "")
    if not isinstance(text, str):
        return []
    offered: list[Json] = []
    for item in found:
        shown = message(item, lines)
        start, end = shown["range"]["start"], shown["range"]["end"]
        if start["line"] <= range["end"]["line"] and range["start"]["line"] <= end["line"]:
            for title, new, is_preferred in _proposals(item, text, data):
                fix: Json = {"title": title, "kind": "quickfix", "diagnostics": [shown]}
                edit = _edit(text, new, uri, version, lines)
                offered.append({**fix, "edit": edit, **({"isPreferred": True} if is_preferred else {})})
    everything = _mended(tuple(item.fix for item in found if item.fix is not None and item.fix.is_sure), data)
    if everything is not None:
        edit = _edit(text, everything, uri, version, lines)
        offered.append({"title": "qten-gen: mend what can be mended", "kind": FIX_ALL, "edit": edit})
    title = "qten-gen: write the generated files"
    command = {"title": title, "command": GENERATE, "arguments": [uri]}
    return [*offered, {"title": title, "kind": "source.qten-gen", "command": command}]


def _proposals(item: Diagnostic, text: str, data: bytes) -> Iterator[tuple[str, str, bool]]:
    """What may be done about a finding: the title, the text afterwards, and True for what is surely meant."""
    fix = item.fix
    mended = None if fix is None else _mended((fix,), data)
    if fix is not None and mended is not None:
        how = f"insert {fix.text.strip()!r}" if fix.is_behind else f"change to {fix.text!r}"
        yield f"{item.code}: {how}", mended, fix.is_sure
    silenced = _with_suppression(text, item)
    if silenced is not None:
        yield f"Ignore {item.code} here", silenced, False


@lru_cache(maxsize=32)
def _mended(fixes: tuple[Fix, ...], data: bytes) -> str | None:
    """The text of a file with fixes; None if that changes nothing. Editors ask whenever the cursor has moved."""
    if not fixes:
        return None
    from ...generate.fixing import CannotRewrite, fixed

    try:
        changed = fixed(fixes, data)
    except CannotRewrite:
        return None
    text = decode(changed, "") if changed != data else None
    return text if isinstance(text, str) else None


def _edit(old: str, new: str, uri: str, version: int | None, lines: Lines) -> Json:
    """The edit of the one place in which two texts differ."""
    old, new = (re.sub(r"\r\n|\r", "\n", text) for text in (old, new))
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    range = lines.between(lines.place_of(start), lines.place_of(len(old) - end))
    edits = [{"range": range, "newText": new[start : len(new) - end]}]
    return {"documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": edits}]}


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _with_suppression(text: str, item: Diagnostic) -> str | None:
    """The text with a comment that suppresses a finding; None if there can be none.

    The comment goes to the end of the first line, or of the last one if the first cannot end with a comment.
    """
    if not can_be_suppressed(item.code) or not item.span.line:
        return None
    pieces = re.split(r"(\r\n|\r|\n)", text)
    for number in dict.fromkeys((item.span.line, item.span.end_line)):
        line = pieces[2 * number - 2]
        known = re.search(r"#\s*qten-gen:\s*ignore\[([^\]]*)", line)
        if known is not None:
            line = f"{line[: known.end()]}{', ' if known[1].strip() else ''}{item.code}{line[known.end() :]}"
        else:
            line = f"{line.rstrip()}  # qten-gen: ignore[{item.code}]"
        new = "".join([*pieces[: 2 * number - 2], line, *pieces[2 * number - 1 :]])
        try:
            ast.parse(new)
        except (SyntaxError, ValueError, RecursionError):
            continue  # the line goes on in the next one
        if any(each.line == number and item.code in dict(each.codes) for each in suppressions(new)):
            return new
    return None
