"""Files and folders: tensors written and mapped, files replaced in one step, one writer at a time."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import warnings
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import torch
from filelock import lock_descriptor, unlock_descriptor
from torch import Size, Tensor

from ..core.error_text import describe
from .metadata import LOCK, StorageError

AS_IT_IS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How to open what somebody may have put there: a link is an error, and a pipe is not waited for."""

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MAY_NOT_WRITE: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ETXTBSY)


class MappedFile(NamedTuple):
    """The file that the storage of a tensor maps. Device and inode tell whether the path still names it.

    What is written to the tensor reaches a file that is `shared`.
    """

    path: str
    device: int
    inode: int
    shared: bool


def file_of(tensor: Tensor) -> MappedFile | None:
    """The file that a tensor lies in, whole or as a part of it."""
    found: MappedFile | None = getattr(tensor.untyped_storage(), "_qten_file", None)
    return found


def mapped_file(tensor: Tensor) -> MappedFile | None:
    """The file that a tensor is the whole content of, or None."""
    try:
        found = file_of(tensor)
    except (NotImplementedError, RuntimeError):
        return None  # sparse, and the tensors of transforms
    whole = tensor.is_contiguous() and tensor.numel() * tensor.itemsize == tensor.untyped_storage().nbytes()
    # The elements of a conjugate or negative view are not the bytes of the file.
    return found if whole and not tensor.is_conj() and not tensor.is_neg() else None


def is_at(tensor: Tensor, path: str) -> bool:
    """True if a tensor is the whole content of the file that a path leads to, as long as nobody else saves there."""
    found = mapped_file(tensor)
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return found is not None and (status.st_dev, status.st_ino) == (found.device, found.inode)


def remember(tensor: Tensor, file: MappedFile) -> None:
    """Note the file of a tensor with its storage, which all views share and which lives as long as the map."""
    tensor.untyped_storage()._qten_file = file  # type: ignore[attr-defined] # an attribute of ours


def map_tensor(path: str, dtype: torch.dtype, shape: tuple[int, ...], where: str, *, name: str = "") -> Tensor:
    """A tensor in the elements of a file, which writes to the tensor change.

    Args:
        name: The path that the file is to get, where it has another one until a save is finished.

    Raises:
        StorageError: there is no such file, or it has another size, or is a link or a folder.
    """
    size = Size(shape)
    expected = size.numel() * dtype.itemsize
    if not expected:
        empty = torch.empty(size, dtype=dtype, device="cpu")
        # It counts as mapped: an object is a memory map only if all its tensors are.
        remember(empty, MappedFile(name or path, 0, 0, True))
        return empty
    try:
        descriptor, writable = _opened(path)
    except OSError as error:
        got = "a link" if error.errno in (errno.ELOOP, errno.EMLINK) else error.strerror
        needed = f"an ordinary file of {expected} bytes ({dtype}, {list(shape)}) at {path}"
        raise StorageError(f"{where}: expected {needed}, got {got}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise StorageError(f"{where}: expected an ordinary file at {path}, got a folder or device")
        if found.st_size != expected:
            size_text = f"expected {expected} bytes ({dtype}, {list(size)}) in {path}"
            raise StorageError(f"{where}: {size_text}, got {found.st_size}")
        # The open file by its number: the path may lead to another one by now, which torch would make longer.
        opened = f"/dev/fd/{descriptor}" if _HAS_DESCRIPTORS else path
        tensor = torch.from_file(opened, shared=writable, size=size.numel(), dtype=dtype, device="cpu")
    finally:
        os.close(descriptor)
    remember(tensor, MappedFile(name or path, found.st_dev, found.st_ino, writable))
    return torch.reshape(tensor, size)  # takes a size in less time than view does


_HAS_DESCRIPTORS: Final = os.path.isdir("/dev/fd")


def _opened(path: str) -> tuple[int, bool]:
    """A file, open, and whether it may be written to."""
    try:
        return os.open(path, os.O_RDWR | AS_IT_IS), True
    except OSError as error:
        if error.errno not in _MAY_NOT_WRITE:
            raise
        return os.open(path, os.O_RDONLY | AS_IT_IS), False


def memory_of(tensor: Tensor) -> memoryview:
    """The memory of a contiguous tensor on the CPU, which it keeps alive, as bytes with strides: Ray asks for those."""
    size = tensor.numel() * tensor.itemsize
    if not size:
        return memoryview(b"")
    memory: Any = (ctypes.c_char * size).from_address(tensor.data_ptr())
    memory.owner = tensor
    return memoryview(memory).cast("B")


def write_new(path: str, *contents: Tensor | bytes | int) -> None:
    """Write a new file: the elements of tensors and bytes one after another, or a number of zeros, which need take no room.

    By `write`, which is faster than copying tensors through a map.
    """
    descriptor = os.open(path, _NEW_FILE, 0o666)
    try:
        for content in contents:
            if isinstance(content, int):
                os.ftruncate(descriptor, content)
                continue
            if isinstance(content, Tensor):
                rest = memory_of(content.cpu().resolve_conj().resolve_neg().contiguous())
            else:
                rest = memoryview(content)
            while rest:
                # One call of the system writes 2 GiB at most.
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def absolute(path: str | os.PathLike[str]) -> str:
    """The absolute path of a file or folder that a user names.

    Raises:
        TypeError: it is bytes, or not a path.
        ValueError: it is empty, which is a mistake more often than the current folder.
    """
    found: object = os.fspath(path) if hasattr(path, "__fspath__") else path
    if not isinstance(found, str):
        raise TypeError(f"expected a path as a str or an os.PathLike of str, got {describe(path)}")
    if not found:
        raise ValueError("expected a path, got ''; the current folder is '.'")
    return os.path.abspath(found)


def make_folder(path: str) -> None:
    """Make a folder below one that exists, where it is missing.

    Raises:
        StorageError: something else is there, or a link to a folder.
    """
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
    if os.path.islink(path) or not os.path.isdir(path):
        raise StorageError(f"expected a folder at {path}, got a link or a file")


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


@contextlib.contextmanager
def only_writer(folder: str) -> Iterator[None]:
    """Make a folder where it is missing, and wait until nobody else saves to it: no other process, and no other thread.

    The lock is on the folder itself, on Windows on an empty file in it, which stays: who removes it lets two writers in. The
    system lets go of it when a process ends, however it ends.
    """
    is_folder = os.name == "posix"
    os.makedirs(folder, exist_ok=True)
    descriptor = os.open(
        folder if is_folder else f"{folder}{os.sep}{LOCK}", os.O_RDONLY if is_folder else os.O_RDWR | os.O_CREAT, 0o666
    )
    try:
        try:
            lock_descriptor(descriptor, poll_interval=0.002)
        except OSError as error:
            mixed = "processes which save here at the same time can mix their objects"
            warnings.warn(f"{folder}: the file system has no locks ({error.strerror}), so that {mixed}", stacklevel=2)
        yield
    finally:
        # A process that was forked meanwhile has the descriptor too, so closing it here does not end the lock.
        with contextlib.suppress(OSError):
            unlock_descriptor(descriptor)
        os.close(descriptor)
