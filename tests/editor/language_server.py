"""A language server, spoken to over its standard streams as an editor does: what it answers at places of files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Place = tuple[str, int, int]
"""A file below the project, a line and a column, both counted from 0."""

_CAPABILITIES = {
    "textDocument": {
        "completion": {"completionItem": {"documentationFormat": ["plaintext"], "snippetSupport": False}},
        "hover": {"contentFormat": ["plaintext"]},
        "signatureHelp": {"signatureInformation": {"documentationFormat": ["plaintext"]}},
        "rename": {"prepareSupport": True},
        "diagnostic": {"dynamicRegistration": False},
    },
    "workspace": {"configuration": True, "workspaceEdit": {"documentChanges": True}},
}


def installed(name: str) -> str | None:
    """A program of the environment that runs the tests, or of the path; None if there is none."""
    return shutil.which(name, path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))


def program(name: str) -> str:
    """A program that has to be installed."""
    found = installed(name)
    assert found, f"{name} is not installed: python -m pip install --editable '.[dev]'"
    return found


@dataclass
class Connection:
    """A server that runs in a project, and what an editor says to it."""

    process: subprocess.Popen[bytes]
    root: Path
    count: int = field(default=0, kw_only=True)
    texts: dict[str, str] = field(default_factory=dict, kw_only=True)
    """The texts of open files."""
    versions: dict[str, int] = field(default_factory=dict, kw_only=True)

    def request(self, method: str, parameters: object) -> Any:
        """The result of a request. What the server asks meanwhile is answered."""
        self.count += 1
        self._send({"id": self.count, "method": method, "params": parameters})
        while True:
            message = self._receive(f"answering {method}")
            if message.get("id") == self.count and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]
            self._answer(message)

    def notify(self, method: str, parameters: object) -> None:
        self._send({"method": method, "params": parameters})

    def show(self, file: str, text: str | None = None) -> None:
        """Open a file as it is on the disk or with a text, or give an open one another text."""
        is_open = file in self.texts
        text = (self.root / file).read_text(encoding="utf-8") if text is None else text.lstrip("\n")
        self.texts[file] = text
        self.versions[file] = version = self.versions.get(file, 0) + 1
        document: dict[str, object] = {"uri": self.uri(file), "version": version}
        if is_open:
            self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        else:
            document |= {"languageId": "python", "text": text}
            self.notify("textDocument/didOpen", {"textDocument": document})

    def uri(self, file: str) -> str:
        return (self.root / file).as_uri()

    def file(self, uri: str) -> str:
        """The file of a URI, below the project where it is there."""
        return uri.removeprefix(f"{self.root.as_uri()}/")

    def _answer(self, message: Mapping[str, Any]) -> None:
        """Take a message that is no result, and answer it if it is a question."""
        raise NotImplementedError

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self, meanwhile: str) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()).strip():
            name, _, value = line.decode().partition(":")
            length = int(value) if name.lower() == "content-length" else length
        assert length, f"the server has ended while {meanwhile}"
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message


@dataclass
class Server(Connection):
    """A type checker as a server."""

    settings: Mapping[str, object]
    name: str
    """`pyright` or `ty`."""

    def at(self, method: str, place: Place, **more: object) -> Any:
        """What a method of documents answers at a place."""
        file, line, column = place
        position = {"textDocument": {"uri": self.uri(file)}, "position": {"line": line, "character": column}}
        return self.request(f"textDocument/{method}", {**position, **more})

    def _answer(self, message: Mapping[str, Any]) -> None:
        """Give the settings that a server asks for; other questions get null, and notifications nothing."""
        if "id" not in message or "method" not in message:
            return
        result: object = None
        if message["method"] == "workspace/configuration":
            result = [self.settings.get(item.get("section", ""), {}) for item in message["params"]["items"]]
        self._send({"id": message["id"], "result": result})


@contextmanager
def running(name: str, command: Sequence[str], root: Path, settings: Mapping[str, object]) -> Iterator[Server]:
    """A server for a project, which ends with the block."""
    process = subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    server = Server(process, root, settings, name)
    try:
        folder = {"uri": root.as_uri(), "name": "project"}
        start = {"processId": os.getpid(), "rootUri": root.as_uri(), "workspaceFolders": [folder]}
        server.request("initialize", {**start, "capabilities": _CAPABILITIES, "initializationOptions": {}})
        server.notify("initialized", {})
        yield server
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        process.wait()
