"""Diagnostics with the source line, a caret under the place, help and notes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from ..common.encoding import text_of
from ..model.diagnostics import Diagnostic
from .concise import CYAN, RED, YELLOW, headline, painted

_LINE_END = re.compile(r"\r\n|\r|\n")


def full(diagnostics: Sequence[Diagnostic], *, color: bool = False, sources: Mapping[str, bytes] | None = None) -> str:
    """The diagnostics, an empty line between two.

    src/model.py:9:37: error QG302 [unknown-dimension]: there is no config field dmi
      |
    9 |     weight: nn.Parameter = param("3*dmi", "dim")
      |                                     ^^^
    help: did you mean dim?
    """
    files: dict[str, list[str]] = {}
    frames = []
    for item in diagnostics:
        if item.path not in files:
            files[item.path] = _lines(item.path, sources)
        frames.append(_frame(item, files[item.path], color))
    return "\n".join(frames)


def _frame(item: Diagnostic, lines: Sequence[str], color: bool) -> str:
    rows = [headline(item, color=color)]
    if 0 < item.line <= len(lines):
        line = _visible(lines[item.line - 1])
        number = str(item.line)
        empty = painted(f"{' ' * len(number)} |", CYAN, color)
        carets = painted(_carets(item, line), RED if item.is_error else YELLOW, color)
        rows += [
            empty,
            f"{painted(f'{number} |', CYAN, color)} {line}".rstrip(),
            f"{empty} {_indent(line, item.column)}{carets}",
        ]
    if item.help:
        rows.append(f"{painted('help', CYAN, color)}: {item.help}")
    rows += [f"{painted('note', CYAN, color)}: {note}" for note in item.notes]
    return "\n".join(rows) + "\n"


def _lines(path: str, sources: Mapping[str, bytes] | None) -> list[str]:
    """The lines of a file, none where it cannot be read."""
    try:
        if sources is None:
            with open(path, "rb") as file:
                data = file.read()
        else:
            data = sources[path]
    except (OSError, KeyError):
        return []
    return _LINE_END.split(text_of(data))


def _indent(line: str, column: int) -> str:
    """Blank space as wide as the line before a column. Tabs stay tabs, so that they end where those of the line end."""
    before = line[: column - 1].ljust(column - 1)
    return "".join("\t" if character == "\t" else " " * _width(character) for character in before)


def _carets(item: Diagnostic, line: str) -> str:
    """Carets under the place; to the end of the line where it goes on in the next."""
    end = item.end_column if item.end_line == item.line else len(line) + 1
    marked = line[item.column - 1 : end - 1].rstrip()
    return "^" * max(1, sum(_width(character) for character in marked))


def _width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _visible(line: str) -> str:
    """The line with control characters, which could drive the terminal, replaced."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" and c != "\t" else c for c in line)
