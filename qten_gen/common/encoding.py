"""The text of a source file, for showing its lines. Parsing decodes strictly, in `syntax`."""

from __future__ import annotations

import io
import tokenize


def text_of(data: bytes) -> str:
    """The text of a file in its own encoding; what cannot be decoded is replaced."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        encoding = "utf-8"
    return data.decode(encoding, "replace")
