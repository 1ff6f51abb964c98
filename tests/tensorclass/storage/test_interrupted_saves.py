"""A process that is killed while it saves leaves the old object or the new one; one that loads meanwhile gets either."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.fresh_process import FreshProcess

from .declared import Outer, assert_equal, outer

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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked, so that a thousand of them take seconds")
@pytest.mark.parametrize("what", ["fresh", "over", "durable"])
def test_a_save_that_is_killed_at_any_operation_leaves_the_old_or_the_new(tmp_path: Path, what: str) -> None:
    done = child("-m", "tests.tensorclass.storage.interrupting", str(tmp_path), what).finish()
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert int(done.stderr.split()[-2]) > 30


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal on Windows")
def test_a_process_that_is_killed_while_it_saves_in_turns_leaves_one_of_the_objects(tmp_path: Path) -> None:
    choices = [outer(10_000, seed=seed) for seed in (1, 2)]
    choices[0].memmap(tmp_path)
    for moment in range(3):
        process = child("-c", SAVE_IN_TURNS, str(tmp_path), "1000000")
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.003 + 0.0137 * moment)
        process.kill()
        assert process.finish().returncode == -signal.SIGKILL
        found = Outer.load_memmap(tmp_path)
        assert_equal(found, choices[0] if found.source == "source 1" else choices[1])


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers and readers are forked")
def test_no_reader_finds_a_part_of_two_objects_while_writers_save_again_and_are_killed(tmp_path: Path) -> None:
    """For two seconds; `make stress` does it for minutes."""
    done = child("-m", "tests.tensorclass.storage.stress", "--seconds", "2", TMPDIR=str(tmp_path)).finish()
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", done.stdout)}
    assert counts["mixed"] == counts["broken"] == 0
    assert counts["reads"] > 0 and counts["saves again"] > 0


def test_when_the_disk_is_full_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outer(4, seed=1).memmap(tmp_path)
    before = sorted(path.name for path in tmp_path.rglob("*"))

    def full(path: str, tensor: object, durable: bool) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("qten_gen.runtime.tensorclass.storage.files.write_tensor", full)
    with pytest.raises(OSError, match="No space left"):
        outer(4, seed=2).memmap(tmp_path)
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert_equal(Outer.load_memmap(tmp_path), outer(4, seed=1))


@pytest.mark.parametrize("again", [False, True])
def test_durable_flushes_data_before_the_metadata_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    if again:
        outer(4, seed=1).memmap(tmp_path)
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def flush(descriptor: int) -> None:
        done.append(f"flush {os.path.basename(os.readlink(f'/proc/self/fd/{descriptor}')).partition('.~')[0]}")
        fsync(descriptor)

    def rename(source: str, target: str) -> None:
        done.append(f"rename {os.path.relpath(target, tmp_path)}")
        replace(source, target)

    if not os.path.exists("/proc/self/fd"):
        pytest.skip("the names of open files are read in /proc")
    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", rename)
    outer(4, seed=2).memmap(tmp_path, durable=True)
    current = done.index("rename meta.json")
    assert [done[:current].count(f"flush {name}.memmap") for name in ("x", "mask", "q")] == [1, 1, 2]
    assert done[current - 1] == "flush meta.json"
    assert done[current + 1] == f"flush {tmp_path.name}"
    done.clear()
    outer(4, seed=3).memmap(tmp_path)
    assert not [step for step in done if step.startswith("flush")]
