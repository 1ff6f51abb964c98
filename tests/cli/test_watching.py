"""`qten-gen --watch` as a process in a real folder."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import qten_gen as package
from tests.command import BATCH, BROKEN, Command

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}


@dataclass
class Watch:
    """A running `qten-gen --watch`, with the lines that it prints."""

    process: subprocess.Popen[str]
    lines: queue.Queue[str]

    def line(self, pattern: str, seconds: float = 20) -> str:
        """The next line that matches a pattern; those before it are passed over."""
        end = time.monotonic() + seconds
        seen = []
        while True:
            try:
                seen.append(self.lines.get(timeout=max(0.0, end - time.monotonic())))
            except queue.Empty:
                raise AssertionError(f"no line {pattern!r} in {seen}") from None
            if re.search(pattern, seen[-1]):
                return seen[-1]

    def is_silent(self, seconds: float = 0.6) -> bool:
        """Whether nothing is printed for some time."""
        try:
            self.lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False


@pytest.fixture
def start(qten_gen: Command) -> Iterator[Callable[..., Watch]]:
    """Starts a watch in the folder of the command."""
    started: list[tuple[subprocess.Popen[str], threading.Thread]] = []

    def begin(*arguments: str) -> Watch:
        command = [sys.executable, "-m", "qten_gen", "--watch", *arguments]
        process = subprocess.Popen(
            command,
            cwd=qten_gen.folder,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A shell starts programs in the background with this signal ignored, and they pass that on.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        lines: queue.Queue[str] = queue.Queue()
        thread = threading.Thread(target=read, args=(process, lines), daemon=True)
        thread.start()
        started.append((process, thread))
        return Watch(process, lines)

    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/model.py", BATCH)
    yield begin
    for process, thread in started:
        process.kill()
        process.wait()
        thread.join()


def read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    """Put what a process prints into a queue, line by line."""
    assert process.stdout is not None
    with process.stdout as output:
        for line in output:
            lines.put(line.rstrip("\n"))


def test_a_saved_file_is_generated_and_each_run_prints_one_line(qten_gen: Command, start: Callable[..., Watch]) -> None:
    watch = start()
    assert re.fullmatch(r"\d\d:\d\d:\d\d 2 files written in \d\.\d\ds", watch.line("files"))
    qten_gen.write("shop/model.py", f"{BATCH}    y: Tensor\n")
    watch.line("1 written")
    assert "y: " in qten_gen.read("shop/model_qten.py")
    assert watch.is_silent(), "its own outputs are no change"
    qten_gen.write("shop/notes.txt", "not a source")
    qten_gen.write("shop/__pycache__/model.cpython-311.pyc", "")
    assert watch.is_silent()
    (qten_gen.folder / "shop/model_qten.py").unlink()
    watch.line("1 file up to date, 1 written")


def test_a_watch_survives_mistakes_and_prints_findings(qten_gen: Command, start: Callable[..., Watch]) -> None:
    watch = start("--output-format", "concise")
    watch.line("2 files written")
    good = qten_gen.read("shop/model_qten.py")
    qten_gen.write("shop/model.py", "class Batch(\n")
    watch.line(r"shop/model.py:1:\d+: error QG001")
    watch.line("1 error in 1 file")
    qten_gen.write("shop/model.py", BROKEN)
    watch.line("QG104")
    assert qten_gen.read("shop/model_qten.py") == good
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nsrcs = 1\n")
    watch.line("pyproject.toml:2: error QG004 .*srcs")
    qten_gen.write("shop/model.py", BATCH.replace("x:", "z:"))
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    watch.line("1 written")
    assert "z: " in qten_gen.read("shop/model_qten.py")


def test_a_file_that_is_saved_by_renaming_keeps_its_outputs(qten_gen: Command, start: Callable[..., Watch]) -> None:
    """As vim does with a backup: the old file is moved away, and the new one is there a moment later."""
    watch = start("--verbose")
    watch.line("2 files written")
    source, backup = qten_gen.folder / "shop/model.py", qten_gen.folder / "shop/model.py~"
    os.rename(source, backup)
    time.sleep(0.05)
    qten_gen.write("shop/.model.py.tmp", f"{BATCH}    y: Tensor\n")
    os.rename(qten_gen.folder / "shop/.model.py.tmp", source)
    first = watch.line("written|removed")
    assert first == "written: shop/model_qten.py"
    with source.open("w") as file:  # emptied first, and written later
        time.sleep(0.05)
        file.write(BATCH)
    watch.line("1 written")
    assert watch.line("written|removed").startswith("written")


def test_ctrl_c_ends_a_watch_with_0(start: Callable[..., Watch]) -> None:
    watch = start()
    watch.line("2 files written")
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(10) == 0
    assert watch.is_silent(0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shup"], "error: no such file or folder: shup; did you mean shop?"),
        (["--check"], "error: --check: not allowed with argument --watch"),
        (
            ["--output-format", "json"],
            "error: --watch cannot be combined with --output-format json, which is a single document",
        ),
    ],
)
def test_a_watch_that_cannot_begin_says_why(qten_gen: Command, arguments: list[str], message: str) -> None:
    qten_gen.write("shop/model.py", BATCH)
    result = qten_gen("--watch", *arguments)
    assert (result.status, result.err.splitlines()[0]) == (2, message)
