"""Locks, `with` statements that lock or unlock for a while, and frozen objects.

A locked object keeps what its fields hold: none can be set, nor its batch size or names. What is in the tensors may change. A
frozen one, which is an object of a frozen class or one that such an object holds, refuses that too. It is no lock for threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from types import TracebackType
from typing import TypeVar
from weakref import ref

from torch import Tensor

from ....common.naming import storage
from .contents import allocate_like, nested_objects
from .stored import FROZEN, Lock, Stored

H = TypeVar("H")
T = TypeVar("T", bound=Stored)


def refuse_if_locked(self: Stored, action: str) -> None:
    """Raise the error of an attempt to change what an object holds, where it is locked or frozen: "cannot `action` a Batch".

    Raises:
        RuntimeError: it is locked.
        FrozenInstanceError: it is frozen.
    """
    if self._lock is not None:
        raise refusal(self, f"cannot {action} a {type(self).__name__}", ".clone()")


def refuse_if_frozen(self: Stored, action: str) -> None:
    """Raise the error of an attempt to write to the tensors of an object, where it is frozen; a lock allows that.

    Raises:
        FrozenInstanceError: it is frozen, or an object in one of its fields is.
    """
    if self._lock is FROZEN:
        raise refusal(self, f"cannot {action} a {type(self).__name__}", ".clone()")
    if self._nested:
        _refuse_if_it_holds_frozen(self, action, self)


def _refuse_if_it_holds_frozen(self: Stored, action: str, holder: Stored) -> None:
    """Raise the error of the first frozen object that `self` holds, at any depth; `holder` was to be changed."""
    for inner in nested_objects(self):
        if inner._lock is FROZEN:
            raise FrozenInstanceError(
                f"cannot {action} a {type(holder).__name__}: its {type(inner).__name__} is frozen"
            )
        if inner._nested:
            _refuse_if_it_holds_frozen(inner, action, holder)


def refuse_other(self: Stored, name: str, value: object) -> None:
    """Refuse to set a field of a frozen object; of a locked one, allow only the tensor or object that it already holds.

    So `batch.x += 1` does with a lock what it does without: Python adds in place, and then assigns what the field holds already.

    Raises:
        RuntimeError: the object is locked.
        FrozenInstanceError: it is frozen.
    """
    is_same = value is getattr(self, storage(name))
    if is_same and self._lock is not FROZEN and isinstance(value, (Tensor, Stored)):
        return
    raise refusal(self, f"cannot assign to {type(self).__name__}.{name}", f".replace({name}=...)")


def refusal(self: Stored, what: str, instead: str) -> RuntimeError | FrozenInstanceError:
    if "frozen" in self._flags:
        return FrozenInstanceError(f"{what}: the class is frozen")
    if self._lock is FROZEN:
        return FrozenInstanceError(f"{what}: a frozen object holds it; use {instead}")
    return RuntimeError(f"{what}: it is locked; use .unlock_(), or {instead} for another object")


def is_locked(self: Stored) -> bool:
    """True if fields, batch size and names cannot be set: the object is locked or frozen."""
    return self._lock is not None


def lock(self: Stored) -> None:
    """Lock an object and its nested objects, as `lock_` does; for the keyword `lock` of constructors."""
    if not any(owner is self for owner in owners_of(self)):
        _add_root(self, ref(self))


def owners_of(self: Stored) -> list[Stored]:
    """The living objects whose `lock_()` locked this one. Without any, it stays locked, and `unlock_()` unlocks it."""
    owners = [root() for root in self._lock.roots] if self._lock is not None else []
    return [owner for owner in owners if owner is not None]


def _add_root(self: Stored, root: ref[Stored]) -> None:
    if self._lock is FROZEN:
        return
    self._lock = Lock((root,) if self._lock is None else (*self._lock.roots, root))
    for inner in nested_objects(self):
        _add_root(inner, root)


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


def frozen_view(value: H) -> H:
    """The value of a nested field of a frozen object: a frozen shallow copy of the object given, which stays as it is.

    None and the markers that pytrees put in place of objects are stored as they are.
    """
    if not isinstance(value, Stored) or value._lock is FROZEN:
        return value
    values, static = value._field_values()
    kept = [one.copy() if isinstance(one, (dict, list)) else frozen_view(one) for one in values]
    out = allocate_like(value)._assign(kept, static, value._batch_size, value._device)
    out._names = value._names
    out._lock = FROZEN
    return out
