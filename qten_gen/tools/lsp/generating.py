"""What the server is handed to write generated files, since no room below `cli/` imports what the command does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Generated(NamedTuple):
    """What came of writing the generated files."""

    message: str
    is_error: bool


Generate = Callable[[str], Generated]
"""Writes the generated files of the project that a file belongs to."""
