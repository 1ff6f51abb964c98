"""Asks a running `--watch` or `lsp` of the project for the outcome of a run. It has imported what a run needs (see `answering`).

The request is the surroundings, whether to print in colour, and the arguments. The answer is an empty line, at once, and then the
exit status and the texts for both streams. Null characters stand between them. Where nobody answers, the command runs itself.
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

ENCODING = "utf-8", "surrogatepass"  # a path may be no text
COLOR = "color"

NAME = "answers.sock"
"""The name of the socket in the folder of the cache."""

_ACCEPTING = 0.5
"""Seconds within which a process that runs, and is not stopped, has accepted a request."""

_LONGEST = 120
"""Seconds that an answer may take."""

_MOST = 65536
"""Bytes that are received at once."""


def ask(arguments: Sequence[str], out: TextIO, err: TextIO) -> int | None:
    """Print what another process answers to a command line, and return its exit status; None if there is no answer."""
    paths = plain_paths(arguments)
    if paths is None or os.environ.get("GITHUB_ACTIONS") == "true":  # which has a format of its own
        return None
    socket = _socket_for(os.path.abspath(paths[0] if paths else "."))
    if socket is None:
        return None
    answer = _answer(socket, "\0".join([surroundings(paths), COLOR if wants_color(out) else "", *arguments]))
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


def _answer(path: str, request: str) -> tuple[int, str, str] | None:
    """The status and the texts for the two streams that the owner of a socket gives; None if it gives none."""
    import _socket  # to import `socket` takes as long as to print the answer of a watch

    connection = _socket.socket(_socket.AF_UNIX)
    try:
        connection.settimeout(_ACCEPTING)
        connection.connect(os.path.relpath(path))  # a path may have about a hundred bytes
        connection.sendall(request.encode(*ENCODING))
        connection.shutdown(_socket.SHUT_WR)
        if connection.recv(1) != b"\n":
            return None
        connection.settimeout(_LONGEST)
        status, printed, errors, _ = b"".join(iter(lambda: connection.recv(_MOST), b"")).decode(*ENCODING).split("\0")
        return int(status), printed, errors
    except ConnectionRefusedError:  # its process was killed
        _remove(path)
        return None
    except (OSError, ValueError):
        return None
    finally:
        connection.close()


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
