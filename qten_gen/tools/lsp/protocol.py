"""The Language Server Protocol over two streams: the first request, messages as JSON-RPC, and what the server can do.

The libraries for it define every message of the protocol when they are imported, which takes longer than everything else that the
server does to answer its first request. Nothing of the generator is loaded before that.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

Params = Mapping[str, Any]
"""The parameters of a message: JSON, whose shape the protocol defines."""

Json = Mapping[str, object]
"""A message to send: a dict that becomes JSON."""

PARSE_ERROR, METHOD_NOT_FOUND, INTERNAL_ERROR, NOT_INITIALIZED = -32700, -32601, -32603, -32002
CANCELLED, REQUEST_FAILED = -32800, -32803
"""Why a request has no result, as the protocol numbers it."""

GENERATE = "qten-gen.generate"
"""The command that writes the generated files of the project of a file, or of all projects."""

FIX_ALL = "source.fixAll.qten-gen"
"""The kind of the action that mends everything in a file."""


def _capabilities(encoding: str) -> Json:
    """The capabilities of the server. A text is sent whole, because Python and editors disagree about what ends a line."""
    return {
        "positionEncoding": encoding,
        "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": False}},
        "hoverProvider": True,
        "renameProvider": {"prepareProvider": True},
        "codeActionProvider": {"codeActionKinds": ["quickfix", FIX_ALL, "source"]},
        "executeCommandProvider": {"commands": [GENERATE]},
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }


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
        self.cancelled: set[int | str | None] = set()
        """The requests whose answers the editor no longer wants."""
        self._sending = Lock()
        Thread(target=self._read, args=(incoming,), daemon=True).start()

    def receive(self, *, wait: bool = True) -> Message | None:
        """The next message, which is `exit` at the end of the stream; None if there is none and the caller does not wait."""
        try:
            return self._messages.get(block=wait)
        except Empty:
            return None

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
        self._send({"id": method, "method": method, "params": params})

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        with self._sending:
            self._outgoing.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._outgoing.flush()

    def _read(self, incoming: BinaryIO) -> None:
        """Take messages from the stream until it ends or the editor takes leave. Answers of the editor need nothing."""
        try:
            while (body := _body(incoming)) is not None:
                try:
                    read = json.loads(body)
                    method, params, identity = (read.get(name) for name in ("method", "params", "id"))
                    if not (isinstance(method, str | None) and isinstance(identity, int | str | None)):
                        raise ValueError(f"the method is {method!r}, and the id {identity!r}")
                    message = Message(method or "", params if isinstance(params, dict) else {}, identity)
                    if message.method == "$/cancelRequest":
                        self.cancelled.add(message.params["id"])
                    elif message.method == "exit":
                        break
                    elif message.method:
                        self._messages.put(message)
                except (ValueError, AttributeError, LookupError, TypeError, RecursionError) as error:
                    problem = {"code": PARSE_ERROR, "message": f"no message of JSON-RPC: {error}"}
                    self._send({"id": None, "error": problem})
        finally:
            self._messages.put(Message("exit", {}))


_LENGTH = re.compile(rb"content-length: *(\d{1,9})\s*$", re.IGNORECASE)


def _body(incoming: BinaryIO) -> bytes | None:
    """The body of the next message; None at the end of the stream.

    What follows a header without a length is skipped up to the next header. A body ends without a line end, so that header may
    stand behind it in one line.
    """
    length = None
    while line := incoming.readline():
        found = _LENGTH.search(line)
        if found is not None:
            length = int(found[1])
        elif not line.strip() and length is not None:
            return incoming.read(length)
    return None


def within(params: object, *names: str) -> Any:
    """The part of parameters at nested names; None if an editor leaves one of them out."""
    for name in names:
        params = params.get(name) if isinstance(params, Mapping) else None
    return params


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


Run = Callable[[Connection, Params, str], None]
"""Carries on a conversation after the first request: with its parameters, and how the editor counts characters."""


def serve(version: str, run: Run) -> None:
    """Answer the first request of an editor over the standard streams, then carry on the conversation."""
    # The command flushes its own stream at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        connection = Connection(sys.stdin.buffer, answers)
        while (message := connection.receive()) is not None and message.method != "exit":
            if message.method == "initialize":
                offered = within(message.params, "capabilities", "general", "positionEncodings")
                encoding = "utf-32" if "utf-32" in (offered or ()) else "utf-16"
                info = {"name": "qten-gen", "version": version}
                connection.answer(message, {"capabilities": _capabilities(encoding), "serverInfo": info})
                run(connection, message.params, encoding)
                return
            if message.identity is not None:
                connection.refuse(message, NOT_INITIALIZED, "the first request has to be initialize")
