"""Saves that are killed: run as a program, which forks a child for each moment at which one can end.

`python -m tests.tensorclass.storage.interrupting FOLDER` prints a line for each moment after which a folder
is neither old nor new.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from qten_gen.runtime.tensorclass.storage.storage_errors import StorageError

from .declared import Inner, Outer, assert_equal, files_in, outer

OLD, NEW = outer(4, seed=1), outer(7, full=False, seed=2)

OPERATIONS = ("open", "write", "replace", "unlink", "mkdir", "ftruncate", "close", "fsync")
"""Everything in `os` that a save calls and that changes a disk."""


def kill_at(number: int) -> None:
    """Let this process die as it begins its nth operation; a write is done by half before."""
    count = 0

    def counted(operation: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            nonlocal count
            count += 1
            if count == number:
                if operation.__name__ == "write":
                    descriptor, data = args
                    assert isinstance(data, memoryview)
                    operation(descriptor, data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return operation(*args, **options)

        return call

    for name in OPERATIONS:
        setattr(os, name, counted(getattr(os, name)))


def dies(number: int, save: Callable[[], object]) -> bool:
    """Whether a save in a child process is killed at its nth operation; otherwise it is done."""
    child = os.fork()
    if child == 0:
        kill_at(number)
        save()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise SystemExit(f"the save of child {number} failed")
    return os.WIFSIGNALED(status)


def is_one_of(folder: Path, cls: type[Outer] | type[Inner], *values: Outer | Inner) -> bool:
    """Whether a folder holds one of some objects, whole; with no values, whether it holds none."""
    try:
        found = cls.load_memmap(folder)
    except FileNotFoundError:
        return not values
    except StorageError:
        return False
    return is_one_of_values(found, *values)


def is_one_of_values(found: Outer | Inner, *values: Outer | Inner) -> bool:
    """Whether an object is equal to one of some."""
    for value in values:
        try:
            assert_equal(found, value)
        except AssertionError:
            continue
        return True
    return False


def peer_is_right(folder: Path) -> bool:
    """Whether tensordict, where it is installed, refuses a folder or reads the tensors of one object from it."""
    try:
        from tensordict import TensorDict
    except ImportError:
        return True
    try:
        found = TensorDict.load_memmap(folder)
    except (RuntimeError, OSError):
        return True
    return any(
        found.batch_size == value.batch_size
        and torch.equal(found["x"], value.x)
        and torch.equal(found["inner", "q"], value.inner.q)
        and found["source"] == value.source
        for value in (OLD, NEW)
    )


def overwritten(folder: Path, save: Callable[[Path], object]) -> None:
    """Kill a save over an old object at every moment."""
    number, killed = 0, True
    while killed:
        number += 1
        at = folder / str(number)
        OLD.memmap(at)
        killed = dies(number, partial(save, at))
        if not is_one_of(at, Outer, OLD, NEW):
            print(f"operation {number}: neither old nor new")
        if not is_one_of(at / "inner", Inner, OLD.inner, NEW.inner):
            print(f"operation {number}: the nested folder is neither old nor new")
        if not peer_is_right(at):
            print(f"operation {number}: tensordict reads a half")
        if number % 2:
            found = Outer.load_memmap(at)
            if not is_one_of_values(found.memmap_(at), OLD, NEW):
                print(f"operation {number}: what was loaded is not saved again")
        NEW.memmap(at)
        if not is_one_of(at, Outer, NEW) or any("~" in name for name in files_in(at)):
            print(f"operation {number}: the next save leaves something behind")
    print(f"{number} moments", file=sys.stderr)


def fresh(folder: Path) -> None:
    """Kill a first save at every moment."""
    number, killed = 0, True
    while killed:
        number += 1
        at = folder / str(number)
        killed = dies(number, partial(NEW.memmap, at))
        if not (is_one_of(at, Outer) or is_one_of(at, Outer, NEW)):
            print(f"operation {number}: a part of the object")
        NEW.memmap(at)
        if not is_one_of(at, Outer, NEW) or any("~" in name for name in files_in(at)):
            print(f"operation {number}: the next save leaves something behind")
    print(f"{number} moments", file=sys.stderr)


def main() -> None:
    torch.set_num_threads(1)
    folder, what = Path(sys.argv[1]), sys.argv[2]
    if what == "fresh":
        fresh(folder)
    elif what == "durable":
        overwritten(folder, lambda at: NEW.memmap(at, durable=True))
    else:
        overwritten(folder, NEW.memmap)


if __name__ == "__main__":
    main()
