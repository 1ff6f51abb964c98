"""What `with batch.lock_()` remembers, in every thread that has such a block open on one object.

Each block knows how the object was before it. The newest one restores that when it ends. An older one, which another thread has
open, leaves the object as it is, and the block that was opened after it restores what the older one would have restored. So an
object stays as a block wants it at least until the next block begins, and ends as it was before the first of them.
"""

from __future__ import annotations

from threading import get_ident

from torch.compiler import is_compiling


class Block:
    """A `with` statement that is open."""

    __slots__ = ("thread", "was_locked")

    def __init__(self, thread: int, was_locked: bool) -> None:
        self.thread = thread
        self.was_locked = was_locked


class LockBlocks:
    """The blocks of one object."""

    __slots__ = ("_announced", "_open")

    def __init__(self) -> None:
        self._announced: dict[int, bool] = {}
        """For each thread, whether the object was locked before its last call of `lock_` or `unlock_`."""
        self._open: list[Block] = []

    def announce(self, was_locked: bool) -> None:
        """Note a call of `lock_` or `unlock_`, on which a `with` statement may follow."""
        self._announced[_thread()] = was_locked

    def forget(self) -> None:
        """Note that none follows."""
        self._announced.pop(_thread(), None)

    def begin(self) -> bool:
        """Begin the block of the last call in this thread. Whether there was one."""
        thread = _thread()
        was_locked = self._announced.pop(thread, None)
        if was_locked is None:
            return False
        self._open.append(Block(thread, was_locked))
        return True

    def end(self) -> bool | None:
        """End the newest block of this thread: whether the object is to be locked now; None where it stays as it is."""
        thread = _thread()
        at = next((i for i in reversed(range(len(self._open))) if self._open[i].thread == thread), -1)
        ended = self._open.pop(at)
        if at in (-1, len(self._open)):
            return ended.was_locked
        self._open[at].was_locked = ended.was_locked
        return None


def _thread() -> int:
    return 0 if is_compiling() else get_ident()
