"""The TensorDict itself that a field holds: its lock, its names and its device, which are changed in place."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.compiler import is_compiling
from torch.utils.weak import WeakIdKeyDictionary

from ..core.stored import Lock
from ..core.tensordict_library import is_made_class

_LOCKS: Final[Any] = WeakIdKeyDictionary()
"""The locks of TensorDicts, which know by themselves only that they are locked."""


def inner(value: Any) -> Any:  # a TensorDict
    """The TensorDict in an object of a class that tensordict made; a TensorDict as it is."""
    return value._tensordict if is_made_class(value) else value


def names_of(value: Any) -> tuple[str | None, ...] | None:
    """The names of the dimensions, or None where none has one."""
    found = tuple(value.names)
    return found if any(name is not None for name in found) else None


def set_device(value: Any, device: torch.device | None) -> None:
    """Say where the tensors are, which have been moved."""
    if value.device != device:
        inner(value)._device = device


def lock_of(value: Any) -> Lock | None:
    """The lock of a TensorDict, where an object of ours holds it."""
    return None if is_compiling() or not value.is_locked else _LOCKS.get(value)


def set_lock(value: Any, lock: Lock | None) -> None:
    """Lock or unlock a TensorDict, and those in it."""
    if lock is not None:
        _LOCKS[value] = lock
        value.lock_()
        return
    _LOCKS.pop(value, None)
    if value.is_locked:
        value.unlock_()
