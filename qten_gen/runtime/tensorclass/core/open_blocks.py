"""The `with` statements that are open on an object: `with batch.lock_()` and `with batch.view(-1) as flat`, in every thread.

The block of a lock knows how the object was before it. The newest one restores that when it ends. An older one, which another
thread has open, leaves the object as it is, and the block that was opened after it restores what the older one would have
restored. So an object stays as a block wants it at least until the next block begins, and ends as it was before the first one.
A call of `lock_` or `unlock_` counts as one of them before its block begins: two threads may begin theirs in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident

from torch.compiler import is_compiling

End = Callable[[bool], None]
"""Ends a block. It is called with whether the block ended without an error."""


class Block:
    """A `with` statement that is open, or that may follow on the last call of `lock_` or `unlock_` in a thread."""

    __slots__ = ("is_open", "thread", "was_locked", "write_back")

    def __init__(self, thread: int, was_locked: bool | None, write_back: End | None) -> None:
        self.thread = thread
        self.was_locked = was_locked
        """For the block of a lock, whether the object was locked before it."""
        self.write_back = write_back
        """For the block of a view, what writes it back."""
        self.is_open = write_back is not None


class OpenBlocks:
    """The blocks of one object, in the order of the calls that they begin with."""

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: list[Block] = []

    def announce(self, was_locked: bool) -> None:
        """Note a call of `lock_` or `unlock_`, on which a `with` statement may follow."""
        thread = _thread()
        self._blocks = [block for block in self._blocks if block.is_open or block.thread != thread]
        self._blocks.append(Block(thread, was_locked, None))

    def begin_lock(self) -> bool:
        """Begin the block of the last call of `lock_` or `unlock_` in this thread. Whether there was one."""
        thread = _thread()
        for block in self._blocks:
            if not block.is_open and block.thread == thread:
                block.is_open = True
                return True
        return False

    def begin_view(self, write_back: End) -> None:
        """Begin a block at whose end a view is written back."""
        self._blocks.append(Block(_thread(), None, write_back))

    def end(self) -> Block:
        """End the newest block of this thread, or of all if it has none.

        The `was_locked` of the result is None where the lock stays as it is.
        """
        thread = _thread()
        is_open = [i for i, block in enumerate(self._blocks) if block.is_open]
        at = ([i for i in is_open if self._blocks[i].thread == thread] or is_open)[-1]
        ended = self._blocks.pop(at)
        if ended.was_locked is None:
            return ended
        for later in self._blocks[at:]:
            # What the thread of the block called in it ends with it; what another thread called since then holds.
            if later.was_locked is not None and later.thread != ended.thread:
                later.was_locked, ended.was_locked = ended.was_locked, None
                break
        return ended


def _thread() -> int:
    return 0 if is_compiling() else get_ident()
