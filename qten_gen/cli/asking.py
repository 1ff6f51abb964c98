"""Asks a running `--watch` or `lsp` of the project for the outcome of a run. It has imported what a run needs (see `answering`).

The request is a line of JSON. The answer is an empty line, at once, and then JSON. Where nobody answers, the command runs itself.
"""

from __future__ import annotations

import os
import stat

from ..project.glance import FOLDER, surroundings
from .color import wants_color
from .glance import plain_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

NAME = "answers.sock"
"""The name of the socket in the folder of the cache."""

_ACCEPTING = 0.5
"""Seconds within which a process that runs, and is not stopped, has accepted a request."""

_LONGEST = 120
"""Seconds that an answer may take."""


def ask(arguments: Sequence[str], out: TextIO, err: TextIO) -> int | None:
    """Print what another process answers to a command line, and return its exit status; None if there is no answer."""
    paths = plain_paths(arguments)
    if paths is None or os.environ.get("GITHUB_ACTIONS") == "true":  # which has a format of its own
        return None
    socket = _socket_for(os.path.abspath(paths[0] if paths else "."))
    if socket is None:
        return None
    answer = _answer(socket, [surroundings(paths), list(arguments), wants_color(out)])
    if answer is None:
        return None
    status, printed, errors = answer
    out.write(printed)
    err.write(errors)
    return status


def _socket_for(folder: str) -> str | None:
    """The socket of the project that a folder is in, if it belongs to this user."""
    while True:
        path = os.path.join(folder, FOLDER, NAME)
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            above = os.path.dirname(folder)
            if above == folder:
                return None
            folder = above
        else:
            return path if stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid() else None


def _answer(path: str, request: list[str | list[str] | bool]) -> tuple[int, str, str] | None:
    """The status and the texts for the two streams that the owner of a socket gives; None if it gives none."""
    import json
    import socket
    from contextlib import suppress

    try:
        with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rb") as answer:
            connection.settimeout(_ACCEPTING)
            connection.connect(os.path.relpath(path))  # a path may have about a hundred bytes
            connection.sendall(json.dumps(request).encode() + b"\n")
            if answer.readline() != b"\n":
                return None
            connection.settimeout(_LONGEST)
            status, printed, errors = json.load(answer)
            return status, printed, errors
    except ConnectionRefusedError:  # its process was killed
        with suppress(OSError):
            os.unlink(path)
        return None
    except (OSError, ValueError):
        return None
