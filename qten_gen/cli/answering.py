"""Answers `qten-gen` commands of the same user, in a process that goes on, such as a watch (see `asking`).

A command is answered if it would do the same here: the generator, the working folder, the paths and the environment are compared.
The settings and the files are read anew for each answer.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import StringIO
from threading import Lock, Thread
from typing import TextIO

from ..project.glance import FOLDER, surroundings
from ..project.manifest import cache_folder
from .asking import COLOR, ENCODING, NAME
from .glance import plain_paths

Main = Callable[[Sequence[str], TextIO, TextIO], int]
"""Carries out a command line, prints to the two streams, and returns the exit status. It asks no other process."""

_LONGEST = 5
"""Seconds that a request may take to arrive."""


@contextmanager
def answering(root: str, main: Main, busy: Lock) -> Iterator[None]:
    """Answer commands while the context is open, and `busy` is free.

    Nothing is answered where a system has no sockets in files, or another process answers already.
    """
    path = os.path.relpath(os.path.join(root, FOLDER, NAME))
    try:
        cache_folder(root)
        listener = _listener(path)
    except (OSError, AttributeError):
        listener = None
    if listener is None:
        yield
        return
    Thread(target=_accept, args=(listener, main, busy), daemon=True).start()
    try:
        yield
    finally:
        listener.close()
        with suppress(OSError):
            os.unlink(path)


def _listener(path: str) -> socket.socket | None:
    """A socket that only this user can connect to; None if another process has one there."""
    with socket.socket(socket.AF_UNIX) as other, suppress(OSError):
        other.connect(path)
        return None
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(path)
        os.chmod(path, 0o600)  # before it listens
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _accept(listener: socket.socket, main: Main, busy: Lock) -> None:
    """Answer one request after the other, until the socket is closed."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        # Whatever is wrong with a request, the next one is answered.
        with suppress(Exception), connection, connection.makefile("rwb") as stream:
            connection.settimeout(_LONGEST)
            key, color, *arguments = stream.read().decode(*ENCODING).split("\0")
            if key == _key(arguments):
                stream.write(b"\n")
                stream.flush()
                with busy:
                    stream.write(_answer(main, arguments, color == COLOR).encode(*ENCODING))


def _key(arguments: Sequence[str]) -> str | None:
    paths = plain_paths(arguments)
    return None if paths is None else surroundings(paths)


def _answer(main: Main, arguments: list[str], is_coloured: bool) -> str:
    """The exit status of a command line and what it prints."""
    out, err = _Page(is_coloured), _Page(is_coloured)
    status = main(arguments, out, err)
    return f"{status}\0{out.getvalue()}\0{err.getvalue()}\0"


class _Page(StringIO):
    """Collects what is printed to a stream of another process."""

    def __init__(self, wants_color: bool) -> None:
        super().__init__()
        self.wants_color = wants_color
