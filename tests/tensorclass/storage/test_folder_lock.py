"""One writer at a time in a folder."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from qten_gen.runtime.tensorclass.storage import files
from qten_gen.runtime.tensorclass.storage.files import only_writer
from tests.fresh_process import FreshProcess

from .declared import Outer, assert_equal, outer
from .test_concurrent_saves import child

HOLD = """
import sys, time
from qten_gen.runtime.tensorclass.storage.files import only_writer
with only_writer(sys.argv[1]):
    print("ready", flush=True)
    time.sleep(60)
"""


def held(folder: Path) -> FreshProcess:
    """Another process that has the lock of a folder."""
    process = child("-c", HOLD, str(folder))
    assert process.stdout.readline() == "ready\n"
    return process


def is_free(folder: Path, seconds: float = 0.1) -> bool:
    """Whether the lock of a folder is to be had."""
    got = threading.Event()

    def take() -> None:
        with only_writer(str(folder)):
            got.set()

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    return got.wait(seconds)


def test_another_process_waits_until_the_first_is_killed(tmp_path: Path) -> None:
    process = held(tmp_path)
    assert not is_free(tmp_path)
    process.kill()
    process.finish()
    assert is_free(tmp_path, 5)


def test_another_thread_waits(tmp_path: Path) -> None:
    with only_writer(str(tmp_path)):
        assert not is_free(tmp_path)
    assert is_free(tmp_path, 5)


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    with only_writer(str(tmp_path / "a" / "b")):
        pass
    if os.name == "posix":
        assert os.listdir(tmp_path / "a" / "b") == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no such call on Windows")
def test_a_child_that_is_forked_while_one_saves_does_not_keep_the_lock(tmp_path: Path) -> None:
    with only_writer(str(tmp_path)):
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
    try:
        assert is_free(tmp_path, 5)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def test_a_folder_that_was_removed_while_one_waited_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "map"
    folder.mkdir()
    saved = threading.Event()

    def save() -> None:
        outer(4).memmap(folder)
        saved.set()

    with only_writer(str(folder)):
        thread = threading.Thread(target=save)
        thread.start()
        time.sleep(0.05)
        shutil.rmtree(folder)
    assert saved.wait(5)
    thread.join()
    assert_equal(Outer.load_memmap(folder), outer(4))


def test_a_file_system_without_locks_is_warned_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, poll_interval: float) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files, "lock_descriptor", none)
    with pytest.warns(UserWarning, match=r"has no locks \(No locks available\)"):
        outer(4).memmap(tmp_path)
    assert_equal(Outer.load_memmap(tmp_path), outer(4))
