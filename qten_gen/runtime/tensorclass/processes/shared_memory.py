"""Objects in the memory that several processes of one machine share."""

from __future__ import annotations

from typing import TypeVar

from ..core.locking import lock_
from ..core.stored import Stored



def share_memory_(self: T) -> T:
    """Move every tensor to shared memory, in place, and lock the object.

    An object that is passed to another process, by a `torch.multiprocessing.Queue` or as an argument, then has the same memory
    there: what one process writes into a tensor, the others see. Tensors on a GPU are shared already.

    It is locked because a tensor that is set later would not be shared; `unlock_` allows it all the same. A frozen object is
    shared too: its values stay what they are.

    >>> batch = Batch(torch.arange(4), batch_size=4).share_memory_()
    >>> batch.is_shared(), batch.is_locked
    (True, True)
    """
    for leaf in self._leaves():
        leaf.share_memory_()  # type: ignore[no-untyped-call] # torch gives it no types
    return lock_(self)


def is_shared(self: Stored) -> bool:
    """Whether every tensor is in shared memory; False where there are none.

    >>> Batch(torch.arange(4), batch_size=4).is_shared()
    False
    """
    leaves = self._leaves()
    return bool(leaves) and all(leaf.is_shared() for leaf in leaves)  # type: ignore[no-untyped-call] # as above
