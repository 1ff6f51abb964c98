"""Splits files into lines, for the source lines that diagnostics show."""

from __future__ import annotations

import io
import re
import tokenize

_LINE_END = re.compile(r"\r\n|\r|\n")


def source_lines(data: bytes) -> list[str]:
    """The lines of a file, without line ends. Bytes that cannot be decoded are replaced.

    >>> source_lines(b"x = 1\\r\\ny = 2")
    ['x = 1', 'y = 2']
    """
    # Whether a null byte in the first lines is an error here depends on the patch release of Python.
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data.replace(b"\0", b" ")).readline)
    except SyntaxError:
        encoding = "utf-8"
    return _LINE_END.split(data.decode(encoding, "replace"))
