"""The `with` statements that are open on an object: `with batch.lock_()` and `with batch.view(-1) as flat`, in every thread.

The block of a lock knows how the object was before it. The newest one restores that when it ends. An older one, which another
thread has open, leaves the object as it is, and the block that was opened after it restores what the older one would have
restored. So an object stays as a block wants it at least until the next block begins, and ends as it was before the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident

from torch.compiler import is_compiling

End = Callable[[bool], None]
"""Ends a block. It is called with whether the block ended without an error."""


class Block:
    """A `with` statement that is open."""

    __slots__ = ("thread", "was_locked", "write_back")

    def __init__(self, thread: int, was_locked: bool | None, write_back: End | None) -> None:
        self.thread = thread
        self.was_locked = was_locked
        """For the block of a lock, whether the object was locked before it."""
        self.write_back = write_back
        """For the block of a view, what writes it back."""


class OpenBlocks:
    """The blocks of one object."""

    __slots__ = ("_announced", "_open")

    def __init__(self) -> None:
        self._announced: dict[int, bool] = {}
        """For each thread, whether the object was locked before its last call of `lock_` or `unlock_`."""
        self._open: list[Block] = []

    def announce(self, was_locked: bool) -> None:
        """Note a call of `lock_` or `unlock_`, on which a `with` statement may follow."""
        self._announced[_thread()] = was_locked

    def begin_lock(self) -> bool:
        """Begin the block of the last call of `lock_` or `unlock_` in this thread. Whether there was one."""
        thread = _thread()
        was_locked = self._announced.pop(thread, None)
        if was_locked is None:
            return False
        self._open.append(Block(thread, was_locked, None))
        return True

    def begin_view(self, write_back: End) -> None:
        """Begin a block at whose end a view is written back."""
        self._open.append(Block(_thread(), None, write_back))

    def end(self) -> Block:
        """End the newest block of this thread. The `was_locked` of the result is None where the lock stays as it is."""
        thread = _thread()
        at = next((i for i in reversed(range(len(self._open))) if self._open[i].thread == thread), -1)
        ended = self._open.pop(at)
        if ended.was_locked is None or at == -1:
            return ended
        for later in self._open[at:]:
            if later.was_locked is not None:
                later.was_locked, ended.was_locked = ended.was_locked, None
                break
        return ended


def _thread() -> int:
    return 0 if is_compiling() else get_ident()
