"""The methods `lock_` and `unlock_`, also for the length of a `with` statement."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TypeVar
from weakref import ref

from .contents import nested_objects
from .locks import lock, owners_of, refusal
from .stored import FROZEN, Lock, Stored

T = TypeVar("T", bound=Stored)


def lock_(self: T) -> T:
    """Lock the object and its nested objects: their fields, batch sizes and names cannot be set any more.

    What is in the tensors may still change, by index and by the methods that work in place. In a `with` statement the lock
    ends with the block.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> with batch.lock_():
    ...     batch.tokens[0] = 5
    ...     batch.is_locked
    True
    >>> batch.tokens, batch.is_locked
    (tensor([5, 1]), False)
    """
    _remember(self)
    lock(self)
    return self


def unlock_(self: T) -> T:
    """Unlock the object and its nested objects. In a `with` statement an object that was locked is locked again afterwards.

    >>> batch = Batch(torch.arange(2), batch_size=2, lock=True)
    >>> with batch.unlock_():
    ...     batch.mask = torch.ones(2)
    >>> batch.is_locked
    True

    Raises:
        RuntimeError: another locked object holds it, or one of its nested objects; unlock that one.
        FrozenInstanceError: it is frozen.
    """
    if self._lock is FROZEN:
        raise refusal(self, f"cannot unlock a {type(self).__name__}", ".clone()")
    _unlock(self)
    return self


def _unlock(self: Stored) -> None:
    """Unlock a whole tree, or nothing where an object outside of it holds a part and keeps that locked."""
    tree = list(_tree(self))
    for found in tree:
        for owner in owners_of(found):
            # By identity, and not by `id`, which a graph would be specialised on.
            if not any(owner is inner for inner in tree):
                raise RuntimeError(
                    f"cannot unlock a {type(self).__name__}: a locked {type(owner).__name__} holds "
                    f"{'it' if found is self else f'its {type(found).__name__}'}; unlock that, or use .clone()"
                )
    _remember(self)
    for found in tree:
        if found._lock is not FROZEN:
            found._lock = None


def enter(self: T) -> T:
    """Begin a `with` statement, which follows on `lock_()` or `unlock_()`.

    Raises:
        TypeError: it follows on nothing of the kind.
    """
    called, open = getattr(self, "_entered", (None, ()))
    if called is not None:
        self._entered = None, (*open, called)
        return self
    raise TypeError(
        f"a with statement takes a {type(self).__name__} from .lock_() or .unlock_(); to write to an object in another shape, "
        "change the result, and store it with .update afterwards"
    )


def leave(
    self: Stored, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
) -> None:
    """End a `with` statement: the object is locked, or not, as it was before."""
    *open, was_locked = self._entered[1]
    self._entered = None, tuple(open)
    if was_locked:
        lock(self)
    else:
        _release(self)


def _release(self: Stored) -> None:
    """Take the lock of an object off it and its nested objects. Another locked object that holds them too keeps them locked."""
    for found in _tree(self):
        if found._lock is not None and found._lock is not FROZEN:
            others = tuple([ref(owner) for owner in owners_of(found) if owner is not self])
            found._lock = Lock(others) if others else None


def _remember(self: Stored) -> None:
    """Note how the object is before a call of `lock_` or `unlock_`: a `with` statement that follows on it ends with that."""
    owners = owners_of(self)
    # Where another object keeps it locked, that alone decides how long.
    was_locked = self._lock is not None and (not owners or any(owner is self for owner in owners))
    self._entered = was_locked, getattr(self, "_entered", (None, ()))[1]


def _tree(self: Stored) -> Iterator[Stored]:
    """An object and everything that it holds."""
    yield self
    for inner in nested_objects(self):
        yield from _tree(inner)
