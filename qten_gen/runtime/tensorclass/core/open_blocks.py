"""The `with` statements that are open on an object: `with batch.lock_()` and `with batch.view(-1) as flat`."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident

from torch.compiler import is_compiling

End = Callable[[bool], None]
"""Ends the block of a view. It is called with whether the block ended without an error."""


class OpenBlocks:
    """The blocks of one object. The newest ends first, whichever thread it is in."""

    __slots__ = ("_called", "_open")

    def __init__(self) -> None:
        self._open: list[bool | End] = []
        self._called: dict[int, bool] = {}

    def announce(self, was_locked: bool) -> None:
        """Note a call of `lock_` or `unlock_`, on which a `with` statement may follow in this thread."""
        self._called[_thread()] = was_locked

    def begin_lock(self) -> bool:
        """Begin the block of the last call of `lock_` or `unlock_` in this thread. Whether there was one."""
        was_locked = self._called.pop(_thread(), None)
        if was_locked is None:
            return False
        self._open.append(was_locked)
        return True

    def begin_view(self, write_back: End) -> None:
        """Begin a block at whose end a view is written back."""
        self._open.append(write_back)

    def end(self) -> bool | End:
        """End the newest block. Gives whether the object was locked before it, or what writes a view back."""
        return self._open.pop()


def _thread() -> int:
    return 0 if is_compiling() else get_ident()
