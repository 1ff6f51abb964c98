"""Faults of the file system, for every writer of files: a call fails after a half, is interrupted, or is the last of the process.

`cases` carries out a piece of work once for each call of the system by which it changes the disk, with a fault at that call.
"""

from __future__ import annotations

import builtins
import errno
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["fail", "fail from then on", "interrupt", "kill"]

KINDS: tuple[Kind, ...] = ("fail", "fail from then on", "interrupt", "kill")
"""The disk is full, or was, in the middle of what is written; Ctrl-C before a call; the end of the process in one."""

OPERATIONS = "open write replace rename link unlink rmdir mkdir ftruncate fsync chmod close".split()
"""Everything in `os` by which this package changes a disk; files that `open` gives are counted too."""


@dataclass
class Fault:
    """What happens at the nth call that changes the disk."""

    kind: Kind
    at: int
    calls: int = 0
    originals: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def __enter__(self) -> Fault:
        self.originals = {name: getattr(os, name) for name in OPERATIONS} | {"builtin": builtins.open}
        for name in OPERATIONS:
            setattr(os, name, self._counted(name))
        builtins.open = self._open
        return self

    def __exit__(self, *_: object) -> None:
        builtins.open = self.originals.pop("builtin")
        for name, function in self.originals.items():
            setattr(os, name, function)

    @property
    def happened(self) -> bool:
        return self.calls >= self.at

    def _counted(self, name: str) -> Callable[..., Any]:
        function = self.originals[name]

        def call(*args: Any, **options: Any) -> Any:
            if name != "open" or args[1] & (os.O_WRONLY | os.O_RDWR):
                self.step(lambda: function(args[0], args[1][: len(args[1]) // 2]) if name == "write" else None)
            return None if name == "fsync" else function(*args, **options)

        return call

    def _open(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        """`open`, whose file counts its writes."""
        writes = any(letter in mode for letter in "wxa+")
        if writes:
            self.step(lambda: None)
        found = self.originals["builtin"](file, mode, *args, **options)
        return _Written(found, self) if writes else found

    def step(self, half: Callable[[], object]) -> None:
        """Count a call, and let the fault happen where it is due; `half` does half of the call."""
        self.calls += 1
        lasting = self.kind == "fail from then on" and self.calls > self.at
        if self.calls != self.at and not lasting:
            return
        if self.kind != "interrupt":
            half()
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "interrupt":
            raise KeyboardInterrupt
        raise OSError(errno.ENOSPC, "No space left on device")


class _Written:
    """A file that is written to."""

    def __init__(self, file: Any, fault: Fault) -> None:
        self._file, self._fault = file, fault

    def write(self, data: Any) -> Any:
        self._fault.step(lambda: (self._file.write(data[: len(data) // 2]), self._file.flush()))
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


@dataclass(frozen=True)
class Case:
    """What became of a piece of work with a fault at one call."""

    folder: Path
    fault: Fault
    raised: BaseException | None


def cases(
    folder: Path, kind: Kind, prepare: Callable[[Path], object], work: Callable[[Path], object]
) -> Iterator[Case]:
    """Every case of a kind of fault, each in a folder of its own, until the work is done before the fault is due.

    `prepare` is done without faults before. The work raises what the fault raises, unless it can do without the call.
    """
    at = 0
    while True:
        at += 1
        place = folder / str(at)
        place.mkdir()
        prepare(place)
        fault = Fault(kind, at)
        if kind == "kill":
            if not _is_killed(fault, work, place):
                break
            yield Case(place, fault, None)
            continue
        raised = None
        with fault:
            try:
                work(place)
            except (OSError, ValueError, KeyboardInterrupt) as error:
                raised = error
        if not fault.happened:
            assert raised is None, raised
            break
        yield Case(place, fault, raised)
    assert at > 3, f"the work makes only {at} calls that the harness sees"


def _is_killed(fault: Fault, work: Callable[[Path], object], folder: Path) -> bool:
    """Do the work in a child process. It ends by the fault, or is done."""

    def faulty() -> None:
        with fault:
            work(folder)

    return not in_child(faulty)


def in_child(work: Callable[[], object]) -> bool:
    """Do something in a child process, and say whether it was done; otherwise the process was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, "the work failed in the child process"
    return not os.WIFSIGNALED(status)
