"""The formats for people: `concise`, one line for each diagnostic, and `full`, with source line, carets, help and notes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from ..model.diagnostics import Diagnostic, Span

BOLD, CYAN, RED, YELLOW = "1", "1;36", "1;31", "1;33"
GREEN, TURQUOISE = "32", "36"


def concise(diagnostics: Sequence[Diagnostic], *, color: bool = False) -> str:
    """Each diagnostic as one line, `path:line:column: severity CODE [name]: message`."""
    return "".join(f"{headline(item, color=color)}\n" for item in diagnostics)


def headline(item: Diagnostic, *, color: bool) -> str:
    """The first line of a diagnostic."""
    numbers = [str(number) for number in (item.span.line, item.span.column) if number]
    where = painted(":".join([visible(item.path), *numbers]), BOLD, color)
    severity = painted(f"{item.kind.severity} {item.code}".rstrip(), RED if item.is_error else YELLOW, color)
    name = f" [{item.kind.name}]" if item.kind.name else ""
    return f"{where}: {severity}{name}: {visible(item.message)}"


def visible(text: str) -> str:
    """A text with line ends and control characters as escapes, because a terminal would carry them out.

    >>> print(visible("a" + chr(10) + "b.py"))
    a\\nb.py
    """
    return "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text)


def painted(text: str, style: str, color: bool) -> str:
    """The text in an ANSI style."""
    return f"\x1b[{style}m{text}\x1b[0m" if color else text


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
