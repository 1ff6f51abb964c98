"""Reads one file without the others, which is enough to see that it says what it said."""

from __future__ import annotations

from ..model import Asked, ImportContext
from ..project.scan import Origin
from ..read.module import read
from .content import content_digest
from .crashes import attempt


def content_of(data: bytes, path: str, origin: Origin) -> str | None:
    """The digest of what a file says, if that does not depend on other files; otherwise another digest, or None."""
    asked = Asked()
    result = attempt([], path, "reading", read, data, path, origin.module, origin.is_package, ImportContext(asked))
    return None if result is None or result[1] else content_digest([result[0]], asked.names)
