"""What a locked or frozen object refuses. `lock_`, `unlock_` and their `with` statements are in `locking_methods.py`.

A locked object keeps what its fields hold: none can be set, nor its batch size or names. What is in the tensors may change. A
frozen one, which is an object of a frozen class or one that such an object holds, refuses that too. It is no lock for threads.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
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
