"""Splits files into lines, for the texts of expressions and for the source lines that diagnostics show."""

from __future__ import annotations

import re

from .encoding import encoding_of

_LINE_END = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """The lines of a text, without line ends. A line ends where it ends for Python's parser: not at a form feed.

    >>> lines_of("x = 1\\r\\ny = '\\x0c'")
    ['x = 1', "y = '\\x0c'"]
    """
    return _LINE_END.split(text)


def source_lines(data: bytes) -> list[str]:
    """The lines of a file. Bytes that cannot be decoded are replaced."""
    encoding = encoding_of(data)
    return lines_of(data.decode(encoding if isinstance(encoding, str) else "utf-8", "replace"))


def characters(line: str, offset: int) -> int:
    """The number of characters before an offset in a line. The parser counts offsets in bytes of UTF-8.

    >>> characters("é = 1", 5)
    4
    """
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace"))
