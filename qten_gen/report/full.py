"""The format `full`: diagnostics with their source line, carets below the reported code, help and notes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from ..model.diagnostics import Diagnostic, Span
from .concise import CYAN, RED, YELLOW, headline, painted, visible


def full(diagnostics: Sequence[Diagnostic], *, color: bool = False) -> str:
    """The diagnostics, separated by empty lines.

    src/model.py:9:37: error QG302 [unknown-dimension]: there is no config field dmi
      |
    9 |     weight: nn.Parameter = param("3*dmi", "dim")
      |                                     ^^^
    help: did you mean dim?
    """
    return "\n".join(_frame(item, color) for item in diagnostics)


def _frame(item: Diagnostic, color: bool) -> str:
    """One diagnostic: its headline, the source line if it is known, help and notes."""
    rows = [headline(item, color=color)]
    if item.span.text is not None:
        line = _visible(item.span.text)
        number = str(item.span.line)
        empty = painted(f"{' ' * len(number)} |", CYAN, color)
        carets = painted(_carets(item.span, line), RED if item.is_error else YELLOW, color)
        rows += [
            empty,
            f"{painted(f'{number} |', CYAN, color)} {line}".rstrip(),
            f"{empty} {_indent(line, item.span.column)}{carets}",
        ]
    if item.help:
        rows.append(f"{painted('help', CYAN, color)}: {visible(item.help)}")
    rows += [f"{painted('note', CYAN, color)}: {visible(note)}" for note in item.notes]
    return "\n".join(rows) + "\n"


def _indent(line: str, column: int) -> str:
    """White space as wide as the line before a column. Tabs stay tabs, because their width depends on the terminal."""
    before = line[: column - 1].ljust(column - 1)
    return "".join("\t" if character == "\t" else " " * _width(character) for character in before)


def _carets(span: Span, line: str) -> str:
    """Carets below the span, up to the end of the line if the span has several lines."""
    end = span.end_column if span.end_line == span.line else len(line) + 1
    marked = line[span.column - 1 : end - 1].rstrip()
    return "^" * max(1, sum(_width(character) for character in marked))


def _width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _visible(line: str) -> str:
    """The line with control characters replaced, because a terminal would execute them."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" and c != "\t" else c for c in line)
