"""How long the language server takes to answer its first request, and to say what is wrong after a change.

`qten-gen lsp` runs in a project of generated files that do not import each other, and is spoken to over its streams. A row is
measured in time on the wall, and in seconds of the processor, which the system counts for each thread. With `--against`, the
server of another checkout runs over a copy of the project, in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .generator import Bench, Column, field, unconnected
from .timing import Row, interleaved, table

OPEN = "part0/model1.py"
"""The file that is edited: it is open, and not saved."""


class Seconds(NamedTuple):
    """What something took."""

    wall: float
    processor: float


class Server:
    """A server that runs in the folder of a column."""

    def __init__(self, column: Column) -> None:
        environment = {**os.environ, "PYTHONPATH": str(column.checkout)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "qten_gen", "lsp"],
            cwd=column.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._path = column.package / OPEN
        self._text = self._path.read_text(encoding="utf-8")
        self._version = 0

    def initialize(self) -> None:
        """Take up the conversation, and wait for the answer."""
        folder = {"uri": self._path.parents[2].as_uri(), "name": ""}
        self._send({"id": 1, "method": "initialize", "params": {"workspaceFolders": [folder], "capabilities": {}}})
        self._receive("id", 1)

    def open(self) -> None:
        """Open the file, and wait for what is found in it."""
        self._send({"method": "initialized", "params": {}})
        document = {
            "uri": self._path.as_uri(),
            "languageId": "python",
            "version": 0,
            "text": f"{self._text}    x: int = 0\n",
        }
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self._receive("method", "textDocument/publishDiagnostics")

    def change(self) -> None:
        """Add a field, with a mistake in every second text, and wait for what is found."""
        self._version += 1
        text = field(self._text, self._version) + "    x: int = 0\n" * (self._version % 2 == 0)
        document = {"uri": self._path.as_uri(), "version": self._version}
        change = {"textDocument": document, "contentChanges": [{"text": text}]}
        self._send({"method": "textDocument/didChange", "params": change})
        self._receive("method", "textDocument/publishDiagnostics")

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def processor(self) -> float:
        """The seconds that the server has run on a processor so far, as Linux counts them."""
        threads = Path(f"/proc/{self._process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self, key: str, value: object) -> None:
        """Read what the server sends up to a message."""
        assert self._process.stdout is not None
        message: dict[str, object] = {}
        while message.get(key) != value:
            header = self._process.stdout.readline()
            self._process.stdout.readline()
            message = json.loads(self._process.stdout.read(int(header.partition(b":")[2])))


def starts(column: Column) -> Seconds:
    """From the start of the process to the answer of `initialize`."""
    began = time.perf_counter()
    server = Server(column)
    try:
        server.initialize()
        return Seconds(time.perf_counter() - began, server.processor())
    finally:
        server.end()


def finds(server: Server) -> Seconds:
    """From a change to what is found."""
    before, began = server.processor(), time.perf_counter()
    server.change()
    return Seconds(time.perf_counter() - began, server.processor() - before)


def rows(name: str, limit: str, measured: Mapping[str, Callable[[], Seconds]], rounds: int) -> Iterator[Row]:
    """A row for the time on the wall and one for that of the processor, which the limit is for."""
    for unit, asked in (("wall", ""), ("processor", limit)):
        columns = {key: partial(_taken, call, unit) for key, call in measured.items()}
        yield Row(f"{name}, {unit}", interleaved(columns, rounds), asked)


def _taken(call: Callable[[], Seconds], unit: str) -> float:
    return float(getattr(call(), unit))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editor", description=__doc__)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout to compare with")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--files", type=int, default=1000)
    options = parser.parse_args()
    checkouts = {"this": Path(__file__).resolve().parents[1]}
    if options.against:
        checkouts["against"] = options.against.resolve()
    with tempfile.TemporaryDirectory() as name:
        columns = tuple(Column(key, checkout, Path(name) / key) for key, checkout in checkouts.items())
        for column in columns:
            column.folder.mkdir()
        Bench(columns, options.rounds).settle(unconnected(options.files))
        measured: list[Row] = []
        calls = {column.name: partial(starts, column) for column in columns}
        measured += rows("from the start to the answer of initialize", "300 ms", calls, options.rounds)
        servers = {column.name: Server(column) for column in columns}
        for server in servers.values():
            server.initialize()
            server.open()
        changes = {name: partial(finds, server) for name, server in servers.items()}
        measured += rows(f"from a change in {options.files} files to what is found", "50 ms", changes, options.rounds)
        for server in servers.values():
            server.end()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(table(measured, lambda this, other: f"{this / other:.2f}", "by"))


if __name__ == "__main__":
    main()
