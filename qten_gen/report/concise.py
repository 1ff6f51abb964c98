"""The format `concise`: one line for each diagnostic, in a form that editors and terminals turn into links."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.diagnostics import Diagnostic

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
