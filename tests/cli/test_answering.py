"""A process that goes on, such as a watch, carries out the commands of others."""

from __future__ import annotations

import io
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TextIO

import pytest

import qten_gen as package
from qten_gen.cli import COMMANDS
from qten_gen.cli.answering import answering
from qten_gen.cli.asking import NAME, ask
from qten_gen.cli.command import main
from qten_gen.run.memory import Memory
from tests.command import BATCH, BROKEN, Command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in files")


@pytest.fixture
def asked() -> list[Sequence[str]]:
    """The command lines that have been answered."""
    return []


@pytest.fixture
def project(qten_gen: Command, asked: list[Sequence[str]]) -> Iterator[Command]:
    """A project in which the command is answered."""

    def noted(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
        asked.append(arguments)
        return main(arguments, out, err, memory)

    memory = Memory()
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/model.py", BATCH)
    with answering(str(qten_gen.folder), noted, Lock()):
        yield qten_gen


def outcome(*arguments: str) -> tuple[int, str, str] | None:
    """What another process answers to a command line."""
    out, err = io.StringIO(), io.StringIO()
    status = ask(arguments, out, err)
    return None if status is None else (status, out.getvalue(), err.getvalue())


def test_another_command_is_not_asked_for(project: Command) -> None:
    assert [command for command in COMMANDS if outcome(command)] == []


def test_the_command_prints_and_returns_what_the_other_process_would(project: Command, asked: list[object]) -> None:
    assert project().summary == "2 files written"
    assert project.exists("shop/model_qten.py")
    project.write("shop/model.py", BROKEN)
    result = project("--check", "shop")
    assert result.status == 1
    assert "QG104" in result.out and "did you mean frozen?" in result.out
    assert asked == [[], ["--check", "shop"]]


def test_a_path_in_a_subfolder_finds_the_process_of_the_project(project: Command, asked: list[object]) -> None:
    project("shop/model.py")
    assert asked == [["shop/model.py"]]


def test_a_mistake_in_the_settings_is_printed_as_ever(project: Command) -> None:
    project.write("pyproject.toml", "[tool.qten-gen]\nsorce-roots = []\n")
    found = outcome()
    assert found is not None and found[0] == 2
    assert "did you mean source-roots" in found[2]


@pytest.mark.parametrize("arguments", [["--diff"], ["--fix"], ["doctor", "--json"], ["--check", "--verbose"], [""]])
def test_other_options_and_commands_are_carried_out_by_the_process_itself(
    project: Command, asked: list[object], arguments: list[str]
) -> None:
    project(*arguments)
    assert asked == []


def test_another_environment_or_working_folder_is_not_answered(
    project: Command, asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.getcwd()
    elsewhere = [
        sys.executable,
        "-c",
        f"import os; os.chdir({here!r}); from qten_gen.cli.command import main; main([])",
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    printed = subprocess.run(
        elsewhere, env={**environment, "HOME": "/nowhere"}, capture_output=True, text=True, check=True
    )
    assert "2 files written" in printed.stdout
    assert asked == []


def test_only_the_user_can_connect(project: Command) -> None:
    found = (project.folder / ".qten_cache" / NAME).stat()
    assert stat.S_IMODE(found.st_mode) == 0o600 and stat.S_ISSOCK(found.st_mode)


def test_a_socket_of_somebody_else_is_not_asked(
    project: Command, asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert outcome() is None and asked == []


def test_a_request_that_makes_no_sense_does_not_end_the_answers(project: Command, asked: list[object]) -> None:
    for request in (b"", b"no key", b"key\0color\0--diff", b"\xff\0\0src"):
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(os.path.relpath(project.folder / ".qten_cache" / NAME))
            other.sendall(request)
            other.shutdown(socket.SHUT_WR)
            assert other.recv(1) == b""
    assert project().summary == "2 files written"
    assert len(asked) == 1


def test_a_second_process_leaves_the_first_one_its_socket(project: Command, asked: list[object]) -> None:
    def never(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
        raise AssertionError(arguments)

    with answering(str(project.folder), never, Lock()):
        project()
    project("--check")
    assert len(asked) == 2


def left_behind(qten_gen: Command) -> Path:
    """The socket of a process that was killed."""
    (qten_gen.folder / ".qten_cache").mkdir(exist_ok=True)
    path = qten_gen.folder / ".qten_cache" / NAME
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(os.path.relpath(path))
    assert path.exists()
    return path


def test_a_socket_without_a_process_is_removed(qten_gen: Command) -> None:
    path = left_behind(qten_gen)
    assert outcome() is None
    assert not path.exists()


def test_a_socket_without_a_process_is_taken_over(qten_gen: Command) -> None:
    path = left_behind(qten_gen)
    with answering(str(qten_gen.folder), lambda *_: 7, Lock()):
        assert outcome() == (7, "", "")
    assert not path.exists()


def test_a_process_that_is_stopped_is_not_waited_for(qten_gen: Command) -> None:
    (qten_gen.folder / ".qten_cache").mkdir()
    with socket.socket(socket.AF_UNIX) as stopped:
        stopped.bind(os.path.relpath(qten_gen.folder / ".qten_cache" / NAME))
        stopped.listen()
        assert outcome() is None


def test_a_command_beside_a_watch_imports_nothing_to_generate(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/model.py", BATCH)
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-X", "importtime", "-m", "qten_gen"]
    with subprocess.Popen([*command[:1], *command[3:], "--watch"], env=environment, stdout=subprocess.PIPE) as watch:
        try:
            assert watch.stdout is not None and b"2 files written" in watch.stdout.readline()
            qten_gen.write("shop/model.py", f"{BATCH}    y: Tensor\n")
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        finally:
            watch.kill()
    assert "2 files" in done.stdout or "1 written" in done.stdout
    assert "qten_gen.cli.asking" in done.stderr and "qten_gen.run.run" not in done.stderr
    assert "y: " in qten_gen.read("shop/model_qten.py")
    beside = qten_gen.read("shop/model_qten.py")
    (qten_gen.folder / "shop/model_qten.py").unlink()
    qten_gen()
    assert qten_gen.read("shop/model_qten.py") == beside


def test_a_language_server_answers_for_the_project_of_its_working_folder(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/model.py", BATCH)
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    command = [sys.executable, "-m", "qten_gen", "lsp"]
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        end = time.monotonic() + 60
        try:
            while (found := outcome()) is None and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            assert server.stdin is not None
            server.stdin.close()
    assert found is not None and found[0] == 0 and "2 files written" in found[1]
    assert not (qten_gen.folder / ".qten_cache" / NAME).exists()
