"""Whether the surroundings of the command want colours. It is imported before an unchanged tree is told at a glance."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def wants_color(stream: TextIO) -> bool:
    """Whether to colour what is written to a stream: NO_COLOR and FORCE_COLOR decide; without them, terminals get colours."""
    told = getattr(stream, "wants_color", None)  # by another process, for its own stream
    if told is not None:
        return bool(told)
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
