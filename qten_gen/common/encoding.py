"""The text of a source file, for showing its lines. Parsing decodes strictly, in `syntax`."""

from __future__ import annotations

import io
import tokenize


def text_of(data: bytes) -> str:
    """The text of a file in its own encoding; what cannot be decoded is replaced."""
    # Whether a null byte in the first lines is an error here depends on the patch release of Python.
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data.replace(b"\0", b" ")).readline)
    except SyntaxError:
        encoding = "utf-8"
    return data.decode(encoding, "replace")
