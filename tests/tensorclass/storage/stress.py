"""Several writers and readers of one folder, killed at random times: no reader ever finds a part of two objects.

`python -m tests.tensorclass.storage.stress --seconds 180` prints what happened, and ends with status 1 if anything was wrong.

Every object has a number, which its static values and all of its tensors hold, and which says its batch size. So a reader sees at
once that two objects are mixed. A writer saves new objects, loads what is there and saves it again, saves it with another field
or static value, and loads it in place.

There are two folders: one for objects with every kind of field, and one for objects with the least that can be mixed, two tensors
and a static value. Loading the latter takes a third of the time, so most reads are theirs, and millions fit into a few minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from struct import Struct
from typing import NamedTuple

import torch
from torch import Tensor

from qten_gen import TensorClass

MOMENT = 0.05
"""Seconds that a writer lives at least, on average."""

PAIRS = 15
"""How many small objects a reader loads for each large one."""


class Part(TensorClass):
    """A nested object."""

    q: Tensor
    label: str


class Whole(TensorClass, nocast=True):
    """An object with a number."""

    x: Tensor
    y: dict[str, Tensor]
    part: Part
    number: int
    mask: Tensor | None = None
    note: str = ""


class Pair(TensorClass, nocast=True):
    """The smallest object with a number of which parts can be mixed."""

    x: Tensor
    y: Tensor
    number: int


def size_of(number: int) -> int:
    """The batch size of an object, which tells files of different objects apart by their length."""
    return 1 + number % 5


def made_pair(number: int) -> Pair:
    """The small object with a number."""
    value = torch.full((size_of(number),), number, dtype=torch.int32)
    return Pair(value, value.long(), number, batch_size=len(value))


def is_pair(found: Pair) -> bool:
    """Whether both tensors of a small object have its number, and as many items as it says."""
    number, size = found.number, size_of(found.number)
    return found.batch_size == (size,) and found.x.tolist() == found.y.tolist() == [number] * size


def made(number: int) -> Whole:
    """The object with a number."""
    size = size_of(number)
    value = torch.full((size, 2), number, dtype=torch.int32)
    part = Part(value[:, 0].long(), str(number), batch_size=size)
    mask = value if number % 3 else None
    return Whole(value, {"a": value, "b": value[:, 1:]}, part, number, mask, batch_size=size)


def is_whole(found: Whole) -> bool:
    """Whether every part of an object has its number."""
    number, size = found.number, size_of(found.number)
    tensors = [found.x, found.y["a"], found.y["b"], found.part.q, *([] if found.mask is None else [found.mask])]
    return (
        found.batch_size == (size,)
        and found.part.label == str(number)
        and (found.mask is None) == (number % 3 == 0)
        and all(len(tensor) == size and set(tensor.flatten().tolist()) == {number} for tensor in tensors)
    )


class Counts(NamedTuple):
    """What happened so far."""

    reads: int = 0
    saves: int = 0
    saves_again: int = 0
    mixed: int = 0
    broken: int = 0
    kills: int = 0

    def __add__(self, other: object) -> Counts:
        assert isinstance(other, Counts)
        return Counts(*[mine + theirs for mine, theirs in zip(self, other, strict=True)])


_LAYOUT = Struct(f"{len(Counts._fields)}q")


@dataclass(frozen=True)
class Shared:
    """The counts of every process, in memory that they share."""

    memory: mmap

    def of(self, process: int) -> Counts:
        return Counts(*_LAYOUT.unpack_from(self.memory, process * _LAYOUT.size))

    def add(self, process: int, counts: Counts) -> None:
        _LAYOUT.pack_into(self.memory, process * _LAYOUT.size, *(self.of(process) + counts))


@dataclass(frozen=True)
class Folders:
    """Where the objects are."""

    whole: str
    pair: str


def read(folders: Folders, shared: Shared, me: int) -> None:
    """Load for ever, small objects most of the time. What was loaded before stays as it was."""
    before = Whole.load_memmap(folders.whole)
    before_pair = Pair.load_memmap(folders.pair)
    while True:
        for _ in range(PAIRS):
            pair = Pair.load_memmap(folders.pair)
            right = is_pair(pair) and is_pair(before_pair)
            before_pair = pair
            shared.add(me, Counts(reads=1, mixed=not right))
        found = Whole.load_memmap(folders.whole)
        right = is_whole(found) and is_whole(before)
        before = found
        shared.add(me, Counts(reads=1, mixed=not right))


def write(folders: Folders, shared: Shared, me: int) -> None:
    """Save for ever."""
    pick = random.Random(os.urandom(8))
    kept = Whole.load_memmap(folders.whole)
    kept_pair = Pair.load_memmap(folders.pair)
    while True:
        action = pick.randrange(9)
        if action < 2:
            kept = made(pick.randrange(1_000_000)).memmap(folders.whole)
        elif action == 2:
            kept = kept.memmap(folders.whole)
        elif action == 3:
            kept = Whole.load_memmap(folders.whole).replace(note=str(pick.random())).memmap(folders.whole)
        elif action == 4:
            kept = kept.memmap_refresh_()
        elif action == 5:
            found = Whole.load_memmap(folders.whole)
            kept = found.replace(x=found.x.clone(), part=found.part.clone()).memmap(folders.whole)
        elif action == 6:
            kept_pair = made_pair(pick.randrange(1_000_000)).memmap(folders.pair)
        elif action == 7:
            kept_pair = kept_pair.memmap(folders.pair)
        else:
            pair = Pair.load_memmap(folders.pair)
            kept_pair = pair.replace(y=pair.y.clone()).memmap(folders.pair)
        mixed = not (is_whole(kept) and is_pair(kept_pair))
        shared.add(me, Counts(saves=action in (0, 1, 6), saves_again=action in (2, 3, 5, 7, 8), mixed=mixed))


def started(work: Callable[[Folders, Shared, int], None], folders: Folders, shared: Shared, me: int) -> int:
    """A process that works until it is killed."""
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            work(folders, shared, me)
        except BaseException:
            traceback.print_exc()
            shared.add(me, Counts(broken=1))
        os._exit(1)
    return pid


def looked_at(folders: Folders) -> Counts:
    """What there is after a process was killed."""
    try:
        right = is_whole(Whole.load_memmap(folders.whole)) and is_pair(Pair.load_memmap(folders.pair))
        return Counts(reads=2, mixed=not right)
    except Exception:
        traceback.print_exc()
        return Counts(broken=1)


def stress(folder: str, seconds: float, writers: int, readers: int) -> Counts:
    """Let processes write and read for some time, and kill them now and then."""
    folders = Folders(os.path.join(folder, "whole"), os.path.join(folder, "pair"))
    made(0).memmap(folders.whole)
    made_pair(0).memmap(folders.pair)
    works = [write] * writers + [read] * readers
    memory = Shared(mmap(-1, _LAYOUT.size * (len(works) + 1)))
    processes = [started(work, folders, memory, me) for me, work in enumerate(works)]
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            time.sleep(random.expovariate(1 / MOMENT) + random.choice((0, 0, 0.05)))
            me = random.randrange(writers) if random.random() < 0.95 else random.randrange(len(works))
            os.kill(processes[me], signal.SIGKILL)
            os.waitpid(processes[me], 0)
            memory.add(len(works), Counts(kills=1) + looked_at(folders))
            processes[me] = started(works[me], folders, memory, me)
    finally:
        for process in processes:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    total = Counts()
    for me in range(len(works) + 1):
        total += memory.of(me)
    return total


def main() -> None:
    torch.set_num_threads(1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(prog="python -m tests.tensorclass.storage.stress", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--readers", type=int, default=2)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="qten-gen-stress-")
    try:
        found = stress(folder, options.seconds, options.writers, options.readers)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(", ".join(f"{value} {name.replace('_', ' ')}" for name, value in found._asdict().items()))
    sys.exit(1 if found.mixed or found.broken else 0)


if __name__ == "__main__":
    main()
