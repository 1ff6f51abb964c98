"""Several who save to and load from one folder: one writes at a time, whoever reads gets a whole object, other files stay."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.storage import files, saving
from qten_gen.runtime.tensorclass.storage.files import only_writer
from qten_gen.runtime.tensorclass.storage.metadata import StorageError
from tests.fresh_process import FreshProcess

from .declared import Inner, Noted, Outer, assert_equal, files_in, outer

REPOSITORY = Path(__file__).parents[3]

SAVE_IN_TURNS = """
import sys
from tests.tensorclass.storage.declared import outer
turns = [outer(10_000, seed=seed) for seed in (1, 2)]
print("ready", flush=True)
for turn in range(int(sys.argv[2])):
    turns[turn % 2].memmap(sys.argv[1])
"""


def child(*arguments: str, **variables: str) -> FreshProcess:
    """A Python process that finds the tests."""
    environment = {
        **os.environ,
        **variables,
        "PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "stubs"))),
    }
    return FreshProcess(arguments, env=environment)


def test_who_loads_while_another_saves_gets_one_of_the_objects(tmp_path: Path) -> None:
    choices = {f"source {seed}": outer(10_000, seed=seed) for seed in (1, 2)}
    choices["source 1"].memmap(tmp_path)
    seen = set()
    process = child("-c", SAVE_IN_TURNS, str(tmp_path), "40")
    assert process.stdout.readline() == "ready\n"
    while process.poll() is None:
        found = Outer.load_memmap(tmp_path)
        assert_equal(found, choices[found.source])
        seen.add(found.source)
    done = process.finish()
    assert done.returncode == 0, done.stderr
    assert seen


def test_two_processes_that_save_leave_the_object_of_one(tmp_path: Path) -> None:
    choices = {f"source {seed}": outer(10_000, seed=seed) for seed in (1, 2)}
    writers = [child("-c", SAVE_IN_TURNS, str(tmp_path), turns) for turns in ("20", "21")]
    for process in writers:
        done = process.finish()
        assert done.returncode == 0, done.stderr
    found = Outer.load_memmap(tmp_path)
    assert_equal(found, choices[found.source])


HOLD = """
import sys, time
from qten_gen.runtime.tensorclass.storage.files import only_writer
with only_writer(sys.argv[1]):
    print("ready", flush=True)
    time.sleep(60)
"""


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
    process = child("-c", HOLD, str(tmp_path))
    assert process.stdout.readline() == "ready\n"
    assert not is_free(tmp_path)
    process.kill()
    process.finish()
    assert is_free(tmp_path, 5)


def test_another_thread_waits(tmp_path: Path) -> None:
    with only_writer(str(tmp_path)):
        assert not is_free(tmp_path)
    assert is_free(tmp_path, 5)
    assert os.name != "posix" or os.listdir(tmp_path) == []


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


def test_a_file_system_without_locks_is_warned_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, poll_interval: float) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files, "lock_descriptor", none)
    with pytest.warns(UserWarning, match=r"has no locks \(No locks available\)"):
        outer(4).memmap(tmp_path)
    assert_equal(Outer.load_memmap(tmp_path), outer(4))


def before_mapping(monkeypatch: pytest.MonkeyPatch, act: Callable[[str], None]) -> None:
    """Let something happen once between the look at a file's size and the mapping."""
    from_file = torch.from_file

    def interrupted(path: str, *args: Any, **options: Any) -> Tensor:
        monkeypatch.setattr(torch, "from_file", from_file)
        act(path)
        return from_file(path, *args, **options)

    monkeypatch.setattr(torch, "from_file", interrupted)


@pytest.mark.parametrize(("size", "later_size"), [(100, 10), (10, 100)])
def test_a_file_that_takes_the_place_of_another_is_read_as_a_whole_and_keeps_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, later_size: int
) -> None:
    Noted(torch.rand(size), batch_size=size).memmap(tmp_path)
    later = Noted(torch.rand(later_size), batch_size=later_size)

    def save(path: str) -> None:
        later.memmap(tmp_path)

    before_mapping(monkeypatch, save)
    assert_equal(Noted.load_memmap(tmp_path), later)
    assert (tmp_path / "x.memmap").stat().st_size == 4 * later_size


def test_writes_to_a_map_reach_the_file_and_those_to_a_read_only_one_do_not(tmp_path: Path) -> None:
    Noted(torch.zeros(10), batch_size=10).memmap(tmp_path)
    Noted.load_memmap(tmp_path).x.fill_(1)
    assert torch.equal(Noted.load_memmap(tmp_path).x, torch.ones(10))
    (tmp_path / "x.memmap").chmod(0o400)
    if os.access(tmp_path / "x.memmap", os.W_OK):
        pytest.skip("this user may write to every file")
    loaded = Noted.load_memmap(tmp_path)
    loaded.x.fill_(2)
    assert not loaded.is_memmap()
    assert torch.equal(Noted.load_memmap(tmp_path).x, torch.ones(10))


def test_a_map_keeps_no_file_open(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("open files are counted in /proc")
    outer(4).memmap(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    kept = [Outer.load_memmap(tmp_path) for _ in range(10)]
    assert len(os.listdir("/proc/self/fd")) == before
    del kept


def test_what_others_put_into_the_folder_is_kept(tmp_path: Path) -> None:
    outer(4, seed=1).memmap(tmp_path)
    ours = files_in(tmp_path)
    theirs = {"notes.txt", "more.memmap", "inner/notes.txt"}
    for name in theirs:
        (tmp_path / name).write_text("mine")
    later = outer(4, seed=2).replace(mask=None)
    later.memmap(tmp_path)
    assert files_in(tmp_path) == (ours - {"mask.memmap"}) | theirs
    assert_equal(Outer.load_memmap(tmp_path), later)


def test_an_object_that_is_replaced_twice_while_it_is_loaded_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer(4, seed=1).memmap(tmp_path)
    map_tensor, calls = files.map_tensor, 0

    def interrupted(*args: Any, **options: Any) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 2:
            monkeypatch.setattr(files, "map_tensor", map_tensor)
            outer(4, seed=2).memmap(tmp_path)
            outer(4, seed=3).memmap(tmp_path)
        return map_tensor(*args, **options)

    monkeypatch.setattr(files, "map_tensor", interrupted)
    loaded = Outer.load_memmap(tmp_path)
    assert calls == 2
    assert_equal(loaded, outer(4, seed=3))


def save_first(monkeypatch: pytest.MonkeyPatch, value: Outer, folder: Path) -> None:
    """Let another object be saved once, just before the next save has the folder for itself."""
    only_writer = files.only_writer

    def later(path: str) -> contextlib.AbstractContextManager[None]:
        monkeypatch.setattr(files, "only_writer", only_writer)
        value.memmap(folder)
        return only_writer(path)

    monkeypatch.setattr(files, "only_writer", later)


@pytest.mark.parametrize("changed", ["all", "some", "size"])
def test_a_loaded_object_is_saved_whole_where_another_was_saved_while_it_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    first = outer(4, seed=1)
    saved = first.memmap(tmp_path)
    others = {
        "all": outer(4, seed=2),
        "some": saved.replace(x=torch.rand(4, 3), mask=None, source="other"),
        "size": outer(7, seed=2, full=False),
    }
    save_first(monkeypatch, others[changed], tmp_path)
    again = saved.memmap(tmp_path)
    assert_equal(Outer.load_memmap(tmp_path), first)
    assert again.is_memmap() and again.saved_path == str(tmp_path)
    again.x[0] = 5
    assert torch.equal(Outer.load_memmap(tmp_path).x[0], torch.full((3,), 5.0))


def test_an_object_that_was_not_there_before_the_save_waited_counts_for_existsok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_first(monkeypatch, outer(4, seed=1), tmp_path)
    with pytest.raises(FileExistsError):
        outer(4, seed=2).memmap(tmp_path, existsok=False)
    assert_equal(Outer.load_memmap(tmp_path), outer(4, seed=1))


def test_a_part_that_is_being_saved_alone_when_it_gets_an_owner_is_the_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, owner = outer(4, seed=1).inner, outer(4, seed=2)
    saves = threading.Thread(target=owner.memmap, args=(tmp_path,))
    write = saving._Save._write

    def interrupted(self: Any, fresh: Any) -> None:
        monkeypatch.setattr(saving._Save, "_write", write)
        write(self, fresh)
        saves.start()
        saves.join(0.3)  # it waits for this save from the moment on that it is decided

    monkeypatch.setattr(saving._Save, "_write", interrupted)
    part.memmap(tmp_path / "inner")
    saves.join()
    assert_equal(Outer.load_memmap(tmp_path), owner)
    assert_equal(Inner.load_memmap(tmp_path / "inner"), owner.inner)
    with pytest.raises(StorageError, match="belongs to the object in"):
        part.memmap(tmp_path / "inner")
