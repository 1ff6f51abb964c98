"""One that loads while others save gets one of the objects, and the last save leaves its own."""

from __future__ import annotations

import os
import re
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


def test_durable_flushes_data_before_the_metadata_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file and each name is on the disk before the metadata that relies on it is put in its place."""
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("the names of open files are read in /proc")
    outer(4, seed=1).memmap(tmp_path)
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def flush(descriptor: int) -> None:
        path = os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), tmp_path)
        done.append(f"flush {re.sub('[0-9a-f]{8}', '', path)}")
        fsync(descriptor)

    def rename(source: str, target: str) -> None:
        done.append(f"rename {os.path.relpath(target, tmp_path)}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", rename)
    outer(4, seed=2).memmap(tmp_path, durable=True)
    first, last = (at for at, step in enumerate(done) if step == "rename meta.json")
    assert {f"flush .~.{number}" for number in range(4)} < set(done[:first])
    assert done[first - 2 : first] == ["flush .~.json", "flush ."] and done[first + 1] == "flush ."
    assert {"rename x.memmap", "rename inner/q.memmap"} < set(done[first:last])
    inner = done[first:last].index("rename inner/meta.json") + first
    assert done[inner - 1 : inner + 2] == ["flush inner", "rename inner/meta.json", "flush inner"]
    assert done[last - 2 : last + 2] == ["flush .~.json", "flush .", "rename meta.json", "flush ."]
    done.clear()
    outer(4, seed=3).memmap(tmp_path)
    assert not [step for step in done if step.startswith("flush")]
