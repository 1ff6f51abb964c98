"""The protocol of `qten-gen lsp` below the messages that every editor sends, over streams in memory."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from qten_gen.tools.lsp.findings import Lines
from qten_gen.tools.lsp.protocol import Connection
from qten_gen.tools.lsp.session import Generated, Session


def conversation(root: Path, *messages: dict[str, object] | bytes) -> list[dict[str, Any]]:
    """What a session sends to an editor that sends messages, or bytes as they are, and then ends the stream."""
    sent = io.BytesIO()
    for message in messages:
        if isinstance(message, bytes):
            sent.write(message)
            continue
        body = json.dumps(message).encode()
        sent.write(
            b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%b"
            % (len(body), body)
        )
    sent.seek(0)
    received = io.BytesIO()
    Session(Connection(sent, received), {"rootUri": root.as_uri()}, "utf-16", lambda path: Generated(path, False)).run()
    parts = received.getvalue().split(b"\r\n\r\n")
    bodies = [
        part.rpartition(b"Content-Length: ")[0] if number < len(parts) - 2 else part
        for number, part in enumerate(parts[1:])
    ]
    return [json.loads(body) for body in bodies]


def test_a_request_that_is_not_known_is_refused_and_a_notification_ignored(tmp_path: Path) -> None:
    (answer,) = conversation(
        tmp_path, {"method": "$/setTrace", "params": {}}, {"id": "a", "method": "textDocument/moniker"}
    )
    assert (answer["id"], answer["error"]) == ("a", {"code": -32601, "message": "textDocument/moniker"})


def test_a_request_that_the_editor_has_cancelled_is_not_answered(tmp_path: Path) -> None:
    place = {"textDocument": {"uri": (tmp_path / "model.py").as_uri()}, "position": {"line": 0, "character": 0}}
    answers = conversation(
        tmp_path,
        {"method": "$/cancelRequest", "params": {"id": 1}},
        {"id": 1, "method": "textDocument/hover", "params": place},
        {"id": 2, "method": "textDocument/hover", "params": place},
    )
    assert [(answer["id"], answer.get("error", {}).get("code"), "result" in answer) for answer in answers] == [
        (1, -32800, False),
        (2, None, True),
    ]


def test_a_message_that_breaks_a_rule_of_the_protocol_does_not_end_the_server(tmp_path: Path) -> None:
    log, refused, answer = conversation(
        tmp_path,
        {"method": "textDocument/didOpen", "params": {}},
        {"id": 1, "method": "textDocument/hover", "params": {}},
        {"id": 2, "method": "shutdown"},
    )[1:]
    assert "KeyError" in log["params"]["message"] and refused["error"]["code"] == -32603
    assert answer == {"jsonrpc": "2.0", "id": 2, "result": None}


@pytest.mark.parametrize(
    "damaged",
    [
        b"Content-Length: abc\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b'\r\n\r\nContent-Type: x\r\n\r\n{"jsonrpc": "2.0"}\r\n\r\n',
        b"\xff\xfe\n",
    ],
)
def test_a_header_without_a_length_is_skipped(damaged: bytes, tmp_path: Path) -> None:
    (answer,) = conversation(tmp_path, damaged, {"id": 1, "method": "shutdown"})
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": None}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"id": {}, "method": "shutdown"}',
        b'{"method": []}',
        b'{"method": "$/cancelRequest", "params": {}}',
    ],
)
def test_a_body_that_is_no_message_is_refused_and_the_next_one_answered(body: bytes, tmp_path: Path) -> None:
    sent = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    answers = conversation(tmp_path, sent, {"id": 1, "method": "shutdown"})
    assert sorted(each.get("error", {}).get("code", 0) for each in answers) == [-32700, 0]


@pytest.mark.parametrize(("encoding", "units"), [("utf-16", 6), ("utf-32", 4)])
def test_places_count_as_the_editor_does(encoding: str, units: int) -> None:
    lines = Lines("x\na😀😀b", encoding)
    assert lines.between((1, 0), (1, 4))["end"] == {"line": 1, "character": units}
    assert lines.place({"line": 1, "character": units}) == (1, 4)
    assert lines.place({"line": 9, "character": 2}) == (9, 2)
