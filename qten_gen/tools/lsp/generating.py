"""The functions with which the server writes generated files, since no room below `cli/` imports those of the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Generated(NamedTuple):
    """The result of writing the generated files."""

    message: str
    is_error: bool


Generate = Callable[[str], Generated]
"""Writes the generated files of the project that a file belongs to."""
