"""The `with` statements that are open on an object, such as `with batch.lock_():`."""

from __future__ import annotations

from threading import get_ident

from torch.compiler import is_compiling


class OpenBlocks:
    """The blocks of one object. The newest ends first, whichever thread it is in."""

    __slots__ = ("_called", "_open")

    def __init__(self) -> None:
        self._open: list[bool] = []
        self._called: dict[int, bool] = {}

    def announce(self, was_locked: bool) -> None:
        """Note a call of `lock_` or `unlock_`, on which a `with` statement may follow in this thread."""
        self._called[_thread()] = was_locked

    def begin(self) -> bool:
        """Begin the block of the last call of `lock_` or `unlock_` in this thread. Whether there was one."""
        was_locked = self._called.pop(_thread(), None)
        if was_locked is None:
            return False
        self._open.append(was_locked)
        return True

    def end(self) -> bool:
        """End the newest block. Whether the object was locked before it."""
        return self._open.pop()


def _thread() -> int:
    return 0 if is_compiling() else get_ident()
