"""The line that shows the progress of a long run on a terminal."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import qten_gen as package
from qten_gen.cli.progress import Progress
from tests.command import BATCH

ROOT = str(Path(package.__file__).parents[1])


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def shown(err: io.StringIO, steps: int = 40, quiet: bool = False) -> str:
    """What is written while a file takes a tenth of a second, from the start of a run with a hundred files."""
    now = [0.0]
    with Progress(err, quiet, lambda: now[0]) as told:
        for done in range(steps):
            if told is not None:
                told(done, 100)
            now[0] += 0.1
    return err.getvalue()


def test_a_run_of_a_second_shows_nothing() -> None:
    assert shown(Terminal(), steps=10) == ""


def test_a_longer_run_shows_the_files_and_the_rate_and_clears_the_line() -> None:
    written = shown(Terminal())
    lines = written.split("\r\x1b[K")
    assert lines[:2] == ["", "11 of 100 files, 10 files/s"] and lines[-2:] == ["39 of 100 files, 10 files/s", ""]
    assert "\n" not in written


def test_the_line_is_cleared_when_the_run_fails() -> None:
    err, now = Terminal(), [0.0]
    with pytest.raises(ZeroDivisionError), Progress(err, False, lambda: now[0]) as told:
        assert told is not None
        now[0] = 2.0
        told(1, 5)
        raise ZeroDivisionError
    assert err.getvalue().endswith("1 of 5 files\r\x1b[K")


@pytest.mark.parametrize("name", ["dumb", ""])
def test_a_terminal_that_cannot_rewrite_a_line_is_left_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("TERM", name or "dumb")
    if not name:
        monkeypatch.delenv("TERM")
    assert shown(Terminal()) == ""


def test_nothing_is_shown_on_a_pipe_or_with_quiet() -> None:
    assert shown(io.StringIO()) == ""
    assert shown(Terminal(), quiet=True) == ""


def test_the_command_shows_its_progress_on_a_real_terminal(tmp_path: Path) -> None:
    """A file that takes long, in one run: the clock of the process runs a hundred times as fast."""
    for number in range(40):
        (tmp_path / f"m{number}.py").write_text(BATCH)
    program = (
        "import sys, time; real = time.monotonic; time.monotonic = lambda: real() * 100\n"
        "from qten_gen.cli.command import main; sys.exit(main())"
    )
    ours, theirs = pty.openpty()
    try:
        environment = {**os.environ, "PYTHONPATH": ROOT, "TERM": "xterm"}
        command = [sys.executable, "-c", program, str(tmp_path)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=theirs, check=True)
        os.close(theirs)
        written = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
    assert done.stdout.startswith(b"80 files written in ")
    assert " of 40 files, " in written and written.endswith("\r\x1b[K")
