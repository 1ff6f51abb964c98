"""What the server can do, as it says at the start, and the names that an editor calls.

It is handed what writes generated files, since no room below `cli/` imports what the command does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Generated(NamedTuple):
    """The result of writing the generated files."""

    message: str
    is_error: bool


Generate = Callable[[str], Generated]
"""Writes the generated files of the project that a file belongs to."""


GENERATE = "qten-gen.generate"
"""The command that writes the generated files of the project of a file, or of all projects."""

COUNTERPART = "qten-gen.counterpart"
"""The command that finds the generated code of a place in a source, or the declaration of a place in generated code."""

FIX_ALL = "source.fixAll.qten-gen"
"""The kind of the action that mends everything in a file."""


def capabilities(encoding: str) -> dict[str, object]:
    """The capabilities of the server. A text is sent whole, because Python and editors disagree about what ends a line."""
    return {
        "positionEncoding": encoding,
        "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": False}},
        "hoverProvider": True,
        "implementationProvider": True,
        "declarationProvider": True,
        "codeActionProvider": {"codeActionKinds": ["quickfix", FIX_ALL, "source"]},
        "executeCommandProvider": {"commands": [GENERATE, COUNTERPART]},
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }
