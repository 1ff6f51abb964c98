"""The first request of an editor, which is answered before anything is loaded that it does not need."""

from __future__ import annotations

import os
import sys

from .capabilities import Generate, capabilities
from .connection import NOT_INITIALIZED, Connection, Message


def serve(version: str, generate: Generate) -> None:
    """Answer an editor over the standard streams until it says that it has finished."""
    # The command flushes its own stream at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        connection = Connection(sys.stdin.buffer, answers)
        start = _start(connection)
        if start is None:
            return
        offered = start.params.get("capabilities", {}).get("general", {}).get("positionEncodings", ())
        encoding = "utf-32" if "utf-32" in offered else "utf-16"
        info = {"name": "qten-gen", "version": version}
        connection.answer(start, {"capabilities": capabilities(encoding), "serverInfo": info})

        from .session import Session

        Session(connection, start.params, encoding, generate).run()


def _start(connection: Connection) -> Message | None:
    """The request that a conversation begins with; None if the editor leaves before."""
    while (message := connection.receive()) is not None and message.method != "exit":
        if message.method == "initialize":
            return message
        if message.identity is not None:
            connection.refuse(message, NOT_INITIALIZED, "the first request has to be initialize")
    return None
