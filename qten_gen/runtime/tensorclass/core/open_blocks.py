"""The `with` statements that are open on an object, such as `with batch.lock_():`."""

from __future__ import annotations

from threading import get_ident

from torch.compiler import is_compiling


class OpenBlocks:
    """The blocks of one object. The newest ends first, whichever thread it is in.

    A block is as old as its call of `lock_` or `unlock_`: between that and the block, other threads may begin and end theirs.
    """

    __slots__ = ("_called", "_calls", "_open")

    def __init__(self) -> None:
        self._calls = 0
        self._open: list[tuple[int, bool]] = []
        self._called: dict[int, tuple[int, bool]] = {}

    def announce(self, was_locked: bool) -> None:
        """Note a call of `lock_` or `unlock_`, on which a `with` statement may follow in this thread."""
        self._calls += 1
        self._called[_thread()] = self._calls, was_locked

    def begin(self) -> bool:
        """Begin the block of the last call of `lock_` or `unlock_` in this thread. Whether there was one."""
        called = self._called.pop(_thread(), None)
        if called is None:
            return False
        self._open.append(called)
        if not is_compiling():
            self._open.sort()
        return True

    def end(self) -> bool | None:
        """End the newest block. Whether the object was locked before it; None where a later call of another thread decides."""
        ended, was_locked = self._open.pop()
        if is_compiling():
            return was_locked
        self._called.pop(_thread(), None)
        later = [(call, thread) for thread, (call, _) in self._called.items() if call > ended]
        if not later:
            return was_locked
        call, thread = min(later)
        self._called[thread] = call, was_locked
        return None


def _thread() -> int:
    return 0 if is_compiling() else get_ident()
