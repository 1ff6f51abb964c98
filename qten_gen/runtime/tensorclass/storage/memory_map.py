"""Memory maps: objects whose tensors are files, which need no memory until they are read and which processes share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from torch import Tensor

from ..core.construction import as_device
from ..core.contents import nested_objects, tensors_of
from ..core.error_text import describe
from ..core.locking_methods import lock_
from ..core.locks import refuse_if_frozen, refuse_if_locked
from ..core.stored import Lock, Stored
from ..torch_tools.packing import all_tensors
from .files import MappedFile, absolute, file_of, mapped_file, remember
from .loading import is_fake, load
from .saving import SaveOptions, save

if TYPE_CHECKING:
    from ..core.construction import DeviceLike

T = TypeVar("T", bound=Stored)

PathLike = str | os.PathLike[str]
"""A folder or file, as users name it."""


def memmap(
    self: T,
    prefix: PathLike | None = None,
    copy_existing: bool = False,
    *,
    num_threads: int = 0,
    existsok: bool = True,
) -> T:
    """Save every tensor to a file, and return an object whose tensors are those files. It is locked; its device is the CPU.

    >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
    >>> Batch.load_memmap("data/train").tokens
    tensor([0, 1, 2, 3])

    However the process ends, the folder holds what it held before or all of the new object. Who mapped the old files keeps them
    as they were. `save` and `dumps` are other names for this.

    Args:
        prefix: The folder, which is made where there is none; without it the files are temporary and end with the object.
        copy_existing: Whether a tensor that is a file of another folder is copied; otherwise it is an error.
        num_threads: How many threads write.
        existsok: Whether a folder that holds an object may get this one.

    Raises:
        TypeError: a static value has no form in JSON, or a tensor is none of plain bytes. Nothing is written then.
        ValueError: a tensor is saved elsewhere already.
        FileExistsError: the folder holds an object, and `existsok` is off.
    """
    return _saved(self, prefix, SaveOptions(copy_existing, existsok, num_threads))


def memmap_(
    self: T,
    prefix: PathLike | None = None,
    copy_existing: bool = False,
    *,
    num_threads: int = 0,
    existsok: bool = True,
) -> T:
    """`memmap` in place: this object and its nested objects get the mapped tensors, and are locked.

    >>> batch = Batch(torch.arange(4), batch_size=4)
    >>> batch.memmap_("data/train").is_memmap(), batch.is_locked
    (True, True)

    Raises:
        RuntimeError: the object is locked, and not because it is a memory map; use `memmap`.
        FrozenInstanceError: the object is frozen; use `memmap`.
    """
    _refuse_unless_mapped(self, "map the tensors of")
    made = _saved(self, prefix, SaveOptions(copy_existing, existsok, num_threads))
    return lock_(become(self, made))


def memmap_like(
    self: T,
    prefix: PathLike | None = None,
    *,
    num_threads: int = 0,
    existsok: bool = True,
) -> T:
    """An object of the same shapes and dtypes in new files full of zeros, to be filled piece by piece. Static values are kept.

    Where the file system can, the files take no room until they are written to. No element is read, so that an expanded object,
    or one on the meta device, can say how large they are:

        store = batch[0].expand(1_000_000).memmap_like("data/train")
        store[:64] = first

    >>> store = Batch(torch.ones(2), batch_size=2).memmap_like("data/train")
    >>> store.tokens
    tensor([0., 0.])
    """
    return _saved(self, prefix, SaveOptions(True, existsok, num_threads, like=True))


def _saved(self: T, prefix: PathLike | None, options: SaveOptions) -> T:
    """An object whose tensors are the saved files, locked. Without a folder the files have no name any more.

    The system frees those with the tensors.
    """
    if prefix is not None:
        return lock_(save(self, absolute(prefix), options))
    folder = tempfile.mkdtemp(prefix="qten-gen-")
    try:
        made = save(self, folder, options._replace(copy_existing=True, temporary=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for leaf in all_tensors(made):
        remember(leaf, MappedFile("", 0, 0, True))
    return lock_(made)


def load_memmap(
    cls: type[T],
    prefix: PathLike,
    device: DeviceLike = None,
    non_blocking: bool = False,
    *,
    out: T | None = None,
) -> T:
    """The object that a folder holds, whichever class saved it: fields are found by name and checked against this class.

    >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
    >>> Batch.load_memmap("data/train")[:2].tokens
    tensor([0, 1])

    `load` is another name for this. Tensors are the files, with the shapes and dtypes that were saved. Writes to them reach the
    files, unless those may not be written to. A folder of a nested field is loaded as that field's class.

    Args:
        prefix: The folder.
        device: Where to put the tensors. On `meta` they have shapes and no data, and no file is opened; under `FakeTensorMode`
            the same holds of fake tensors.
        non_blocking: Whether to return before copies to the device are done.
        out: An object of this class that gets the tensors, static values and batch size, and is returned.

    Raises:
        FileNotFoundError: the folder holds no object.
        StorageError: files are damaged, missing, or were tampered with, or do not fit the class; a ValueError.
        TypeError: `out` is of another class.
    """
    if out is not None and not isinstance(out, cls):
        raise TypeError(f"{cls.__name__}.load_memmap: expected a {cls.__name__} as out, got {describe(out)}")
    if out is not None:
        _refuse_unless_mapped(out, "load into")
    found = None if device is None else as_device(device)
    made = load(cls, absolute(prefix), found)
    if found is not None and found.type not in ("cpu", "meta") and not non_blocking and not is_fake():
        torch.accelerator.synchronize(found)
    if out is not None:
        made = become(out, made)
    if _all_shared(made, file_of):
        lock_(made)
    return made


def load_memmap_(self: T, prefix: PathLike) -> T:
    """Load what a folder holds into this object: tensors, on its device, static values and batch size. See `load_memmap`.

    >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
    >>> Batch(torch.zeros(4, dtype=torch.int64), batch_size=4).load_memmap_("data/train").tokens
    tensor([0, 1, 2, 3])

    Raises:
        RuntimeError: the object is locked, and not because it is a memory map.
        FrozenInstanceError: it is frozen.
    """
    return load_memmap(type(self), prefix, self._device, out=self)


def memmap_refresh_(self: T) -> T:
    """Load anew what the folder holds that this object was saved in or loaded from, as another process may have replaced it.

    What other processes write into the tensors is there without it.

    >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
    >>> later = Batch(torch.ones(4, dtype=torch.int64), batch_size=4).memmap("data/train")
    >>> saved.memmap_refresh_().tokens
    tensor([1, 1, 1, 1])

    Raises:
        RuntimeError: the object is in no folder.
        FrozenInstanceError: it is frozen.
    """
    folder = saved_path(self)
    if folder is None:
        raise RuntimeError(
            f"a {type(self).__name__} without saved_path cannot be refreshed; save it with .memmap_(prefix)"
        )
    return load_memmap(type(self), folder, out=self)


def is_memmap(self: Stored) -> bool:
    """True if the object is locked and every tensor of it is a mapped file, so that writes to them reach other processes.

    >>> Batch(torch.arange(4), batch_size=4).memmap().is_memmap()
    True
    """
    return self._lock is not None and _all_shared(self, mapped_file)


def _all_shared(self: Stored, file: Callable[[Tensor], MappedFile | None]) -> bool:
    """True if writes to every tensor reach a file, the one that `file` finds."""
    found = [file(leaf) for leaf in all_tensors(self)]
    return bool(found) and all(each is not None and each.shared for each in found)


def saved_path(self: Stored) -> str | None:
    """The folder of a memory map. None for other objects, temporary files, and tensors of several folders."""
    if not is_memmap(self):
        return None
    found = _folders(self, 0)
    return found.pop() or None if len(found) == 1 else None


def _folders(value: object, depth: int) -> set[str]:
    """The folders so many levels above the files of a memory map; of each level, one more above."""
    if isinstance(value, Tensor):
        path = cast(MappedFile, mapped_file(value)).path
        for _ in range(depth):
            path = os.path.dirname(path)
        return {path}
    items = value._field_values()[0] if isinstance(value, Stored) else tensors_of(value)
    return set[str]().union(*[_folders(item, depth + 1) for item in items if item is not None])


def _refuse_unless_mapped(self: Stored, action: str) -> None:
    """A memory map is locked so that its fields stay files, and stay so when it is loaded anew."""
    refuse_if_frozen(self, action)
    if not is_memmap(self):
        refuse_if_locked(self, action)


def become(self: T, other: T) -> T:
    """Make an object and its nested objects equal to another in place. Locks stay as they are."""
    values = []
    for before, after in zip(self._field_values()[0], other._field_values()[0], strict=True):
        is_object = isinstance(after, Stored)
        if is_object and type(before) is type(after):
            after = become(before, after)
        elif is_object and self._lock is not None:
            # It is new here, and was loaded without a lock.
            _share_lock(after, self._lock)
        values.append(after)
    # Filling an object unlocks it.
    kept = self._lock
    self._assign(values, other._field_values()[1], other._batch_size, other._device)
    self._names = other._names
    self._lock = kept
    return self


def _share_lock(self: Stored, lock: Lock) -> None:
    self._lock = lock
    for inner in nested_objects(self):
        _share_lock(inner, lock)
