"""JSON-RPC over two streams, as the Language Server Protocol has it, and the paths that its URIs name.

The libraries for it define every message of the protocol when they are imported, which takes longer than everything else that the
server does to answer its first request.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

Params = Mapping[str, Any]
"""The parameters of a message: JSON, whose shape the protocol defines."""

Json = Mapping[str, object]
"""A message to send: a dict that becomes JSON."""

METHOD_NOT_FOUND, INTERNAL_ERROR, NOT_INITIALIZED, CANCELLED = -32601, -32603, -32002, -32800
"""Why a request has no result, as the protocol numbers it."""


class Message(NamedTuple):
    """A request, or a notification, which has no identity."""

    method: str
    params: Params
    identity: int | str | None = None


class Connection:
    """An editor at the other end of two streams. A thread reads; everything else happens in the thread that calls."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._outgoing = outgoing
        self._messages: SimpleQueue[Message] = SimpleQueue()
        self._cancelled: set[int | str] = set()
        self._requests = 0
        Thread(target=self._read, args=(incoming,), daemon=True).start()

    def receive(self, *, wait: bool = True) -> Message | None:
        """The next message, which is `exit` at the end of the stream; None if there is none and the caller does not wait."""
        try:
            return self._messages.get(block=wait)
        except Empty:
            return None

    def is_cancelled(self, message: Message) -> bool:
        """Whether the editor no longer wants the answer to a request."""
        return message.identity in self._cancelled

    def answer(self, message: Message, result: object) -> None:
        """Send the result of a request."""
        self._send({"id": message.identity, "result": result})

    def refuse(self, message: Message, code: int, reason: str) -> None:
        """Say why a request has no result."""
        self._send({"id": message.identity, "error": {"code": code, "message": reason}})

    def notify(self, method: str, params: Json) -> None:
        """Tell the editor something."""
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Json) -> None:
        """Ask the editor for something. What it answers is not looked at."""
        self._requests += 1
        self._send({"id": self._requests, "method": method, "params": params})

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        self._outgoing.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._outgoing.flush()

    def _read(self, incoming: BinaryIO) -> None:
        """Take messages from the stream until it ends or the editor takes leave. Answers of the editor need nothing."""
        try:
            while (body := _body(incoming)) is not None:
                read = json.loads(body)
                message = Message(read.get("method", ""), read.get("params") or {}, read.get("id"))
                if message.method == "$/cancelRequest":
                    self._cancelled.add(message.params["id"])
                elif message.method == "exit":
                    break
                elif message.method:
                    self._messages.put(message)
        finally:
            self._messages.put(Message("exit", {}))


def _body(incoming: BinaryIO) -> bytes | None:
    """The body of the next message; None at the end of the stream."""
    length = 0
    while (line := incoming.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return incoming.read(length) if line else None


def path_of(uri: str) -> str | None:
    """The path of a file; None for a text without one, such as an untitled one.

    >>> path_of("file:///shop/a%20model.py"), path_of("untitled:Untitled-1")
    ('/shop/a model.py', None)
    """
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if os.name != "nt":
        return path
    return os.path.normpath(f"//{parts.netloc}{path}" if parts.netloc else path.lstrip("/"))


def uri_of(path: str) -> str:
    """The URI of a file.

    >>> uri_of("/shop/a model.py")
    'file:///shop/a%20model.py'
    """
    return Path(os.path.abspath(path)).as_uri()
