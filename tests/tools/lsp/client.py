"""An editor that speaks to `qten-gen lsp`: it sends whole texts, keeps what is published, and applies edits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import qten_gen as package
from tests.editor.language_server import Connection

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(package.__file__).parents[1]), *sys.path[1:]])}
_CAPABILITIES = {
    "textDocument": {"publishDiagnostics": {"versionSupport": True}, "hover": {"contentFormat": ["markdown"]}},
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
}


@dataclass
class Client(Connection):
    """The editor, its server, and what it shows."""

    published: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The findings of each file that the server has spoken of."""
    said: list[str] = field(default_factory=list)
    """What the server showed or logged."""
    asked: list[str] = field(default_factory=list)
    """The requests of the server."""

    def move_to(self, root: Path) -> None:
        """Show another folder instead of this one, and forget all that was said."""
        for file in [*self.texts]:
            self.close(file)
        event = {"added": [{"uri": root.as_uri(), "name": "new"}], "removed": [{"uri": self.root.as_uri(), "name": ""}]}
        for kept in (self.versions, self.published, self.said, self.asked):
            kept.clear()
        self.root = root
        self.notify("workspace/didChangeWorkspaceFolders", {"event": event})

    def write(self, file: str, text: str) -> None:
        """Write a file to the disk."""
        (self.root / file).write_text(text.lstrip("\n"), encoding="utf-8")

    def close(self, file: str) -> None:
        del self.texts[file], self.versions[file]
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(file)}})

    def save(self, file: str) -> None:
        self.write(file, self.texts[file])
        self.notify("textDocument/didSave", {"textDocument": {"uri": self.uri(file)}})

    def findings(self, file: str, *codes: str) -> list[dict[str, Any]]:
        """Wait until the findings of a file have these codes, and return them."""
        self.until(lambda: self.codes(file) == sorted(codes), f"{file} to have {codes}")
        return self.published.get(file, [])

    def codes(self, file: str) -> list[str]:
        return sorted(item.get("code", "") for item in self.published.get(file, []))

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Read what the server sends until something is so."""
        while not is_so():
            self._answer(self._receive(f"waiting for {what}: {self.published} {self.said}"))

    def hover(self, file: str, text: str) -> str:
        """What is shown over the last character of the first such text in a file."""
        found = self.at("hover", file, text)
        return "" if found is None else str(found["contents"]["value"])

    def at(self, method: str, file: str, text: str) -> Any:
        """What a method of documents answers at the last character of the first such text in a file."""
        uri, position = self.place(file, text)
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position})

    def place(self, file: str, text: str) -> tuple[str, dict[str, int]]:
        """The URI of a file, and the position of the last character of the first such text in it."""
        whole = self.texts.get(file) or (self.root / file).read_text(encoding="utf-8")
        before = whole[: whole.index(text) + len(text) - 1]
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        return self.uri(file), {"line": before.count("\n"), "character": column}

    def line(self, found: Mapping[str, Any]) -> tuple[str, str]:
        """The file of a location, and its line from the location on."""
        file, start = self.file(found["uri"]), found["range"]["start"]
        lines = (self.root / file).read_text(encoding="utf-8").splitlines()
        return file, lines[start["line"]][start["character"] :]

    def actions(self, file: str, line: int, only: Sequence[str] | None = None) -> dict[str, Any]:
        """What is offered in a line, counted from 1, by title."""
        place = {"line": line - 1, "character": 0}
        context: dict[str, object] = {"diagnostics": [], **({"only": list(only)} if only else {})}
        parameters = {"textDocument": {"uri": self.uri(file)}, "range": {"start": place, "end": place}}
        found = self.request("textDocument/codeAction", {**parameters, "context": context})
        return {item["title"]: item for item in found or []}

    def apply(self, action: Mapping[str, Any]) -> None:
        """Make the edits of an action in the open texts, and send them."""
        for change in action["edit"]["documentChanges"]:
            file = self.file(change["textDocument"]["uri"])
            assert change["textDocument"]["version"] == self.versions[file]
            text = self.texts[file]
            places = [(edit["range"]["start"]["line"], edit["range"]["start"]["character"]) for edit in change["edits"]]
            for _, edit in sorted(zip(places, change["edits"], strict=True), key=lambda item: item[0], reverse=True):
                start, end = (_offset(text, edit["range"][name]) for name in ("start", "end"))
                text = text[:start] + edit["newText"] + text[end:]
            self.show(file, text)

    def _answer(self, message: Mapping[str, Any]) -> None:
        """Keep what the server says, and answer null to what it asks."""
        method, parameters = message["method"], message.get("params", {})
        if method == "textDocument/publishDiagnostics":
            if parameters["uri"].startswith(self.root.as_uri()):
                self.published[self.file(parameters["uri"])] = parameters["diagnostics"]
        elif method in ("window/logMessage", "window/showMessage"):
            self.said.append(parameters["message"])
        if "id" in message:
            self.asked.append(method)
            self._send({"id": message["id"], "result": None})


def _offset(text: str, position: Mapping[str, int]) -> int:
    """The offset of a position, whose characters are units of UTF-16."""
    lines = text.split("\n")
    line = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]].decode("utf-16-le")
    return sum(len(item) + 1 for item in lines[: position["line"]]) + len(line)


@contextmanager
def started(root: Path, folders: Sequence[str], options: Mapping[str, object]) -> Iterator[Client]:
    """A server for folders below a root, which ends with the block."""
    command = [sys.executable, "-m", "qten_gen", "lsp"]
    process = subprocess.Popen(
        command, cwd=root, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    client = Client(process, root)
    try:
        shown = [{"uri": client.uri(folder), "name": folder} for folder in folders or (".",)]
        start = {"processId": os.getpid(), "rootUri": root.as_uri(), "workspaceFolders": shown}
        client.request("initialize", {**start, "capabilities": _CAPABILITIES, "initializationOptions": dict(options)})
        client.notify("initialized", {})
        yield client
        if process.poll() is None:
            client.request("shutdown", None)
            client.notify("exit", None)
            assert process.wait(20) == 0
    finally:
        process.kill()
        errors = process.stderr.read().decode() if process.stderr is not None else ""
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
        process.wait()
    assert "Traceback" not in errors, errors
