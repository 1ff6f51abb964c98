"""Files and folders: tensors written and mapped, names given and taken."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from torch import Size, Tensor

from ..core.error_text import describe
from .storage_errors import StorageError

_CHUNK = 64 * 2**20
"""Bytes that are made contiguous, or brought to the CPU, at a time."""

AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How to open what somebody may have put there: a link is an error, and a pipe is not waited for."""

_IS_LINK = (errno.ELOOP, errno.EMLINK)
_MAY_NOT_WRITE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ETXTBSY)

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class MappedFile(NamedTuple):
    """The file that the storage of a tensor maps. Device and inode tell whether the path still names it.

    What is written to the tensor reaches a file that is `shared`.
    """

    path: str
    device: int
    inode: int
    shared: bool


def mapped_file(tensor: Tensor) -> MappedFile | None:
    """The file that a tensor is the whole content of, or None."""
    try:
        storage = tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None  # sparse, and the tensors of transforms
    found: MappedFile | None = getattr(storage, "_qten_file", None)
    if found is None or not tensor.is_contiguous() or tensor.numel() * tensor.itemsize != storage.nbytes():
        return None
    return found


def file_of(tensor: Tensor) -> MappedFile | None:
    """The file that a tensor lies in, whole or as a part of it."""
    found: MappedFile | None = getattr(tensor.untyped_storage(), "_qten_file", None)
    return found


def is_current(file: MappedFile) -> bool:
    """Whether the path of a mapped file still leads to it."""
    try:
        found = os.lstat(file.path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (file.device, file.inode)


def map_tensor(
    path: str,
    dtype: torch.dtype,
    shape: tuple[int, ...],
    where: str,
    *,
    longer: bool = False,
) -> Tensor:
    """A tensor in the elements of a file, which writes to the tensor change.

    Args:
        longer: Whether the file may have more bytes than the tensor.

    Raises:
        StorageError: there is no such file, or it has another size, or is a link or a folder, or was replaced meanwhile.
    """
    size = Size(shape)
    count = size.numel()
    if count == 0:
        empty = torch.empty(size, dtype=dtype, device="cpu")
        # It counts as mapped: an object is a memory map only if all its tensors are.
        _remember(empty, MappedFile(path, 0, 0, True))
        return empty
    try:
        descriptor, writable = _opened(path)
    except OSError as error:
        if error.errno in _IS_LINK:
            raise StorageError(f"{where}: {_ordinary(path)}") from None
        raise StorageError(
            f"{where}: expected a file of {count * dtype.itemsize} bytes ({dtype}, {list(shape)}) at {path}: {error.strerror}"
        ) from None
    try:
        found = os.fstat(descriptor)
        _refuse_unfit(found, path, dtype, size, where, longer=longer)
        file = MappedFile(path, found.st_dev, found.st_ino, writable)
        try:
            tensor = map_open_file(descriptor, path, dtype, count, shared=writable)
        except (OSError, RuntimeError):
            if not is_current(file):
                raise StorageError(f"{where}: {path} was replaced while it was mapped") from None
            raise
        if os.fstat(descriptor).st_size < found.st_size:  # to read what is missing would end the process
            raise StorageError(f"{where}: {path} was made shorter while it was mapped")
    finally:
        os.close(descriptor)
    _remember(tensor, file)
    return torch.reshape(tensor, size)  # takes a size in less time than view does


def _opened(path: str) -> tuple[int, bool]:
    """A file, open, and whether it may be written to."""
    try:
        return os.open(path, os.O_RDWR | AS_IT_IS), True
    except OSError as error:
        if error.errno not in _MAY_NOT_WRITE:
            raise
        return os.open(path, os.O_RDONLY | AS_IT_IS), False


def _ordinary(path: str) -> str:
    return f"expected an ordinary file at {path}, got a link, folder or device"


def _refuse_unfit(
    found: os.stat_result, path: str, dtype: torch.dtype, size: Size, where: str, *, longer: bool = False
) -> None:
    """Refuse what is not a file, or one of another size."""
    if not stat.S_ISREG(found.st_mode):
        raise StorageError(f"{where}: {_ordinary(path)}")
    expected = size.numel() * dtype.itemsize
    if found.st_size != expected and not (longer and found.st_size > expected):
        raise StorageError(f"{where}: expected {expected} bytes ({dtype}, {list(size)}) in {path}, got {found.st_size}")


def _remember(tensor: Tensor, file: MappedFile) -> None:
    """Keep what `mapped_file` says with the storage, which all views share and which lives as long as the map."""
    tensor.untyped_storage()._qten_file = file  # type: ignore[attr-defined] # an attribute of ours


def forget_path(tensor: Tensor) -> None:
    """Note that the file of a mapped tensor has no name any more."""
    _remember(tensor, MappedFile("", 0, 0, True))


def write_tensor(path: str, tensor: Tensor, durable: bool) -> None:
    """Write the elements of a tensor to a new file, by `write`, which is faster than copying them through a map."""
    write_new(path, map(memory_of, _pieces(tensor)), durable)


def write_new(path: str, pieces: Iterable[memoryview | bytes], durable: bool) -> None:
    """Write a new file."""
    descriptor = new_file(path)
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                # One call of the system writes 2 GiB at most.
                rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def memory_of(tensor: Tensor) -> memoryview:
    """The memory of a contiguous tensor on the CPU, which it keeps alive, as bytes with strides: Ray asks for those."""
    size = tensor.numel() * tensor.itemsize
    if not size:
        return memoryview(b"")
    memory: Any = (ctypes.c_char * size).from_address(tensor.data_ptr())
    memory.owner = tensor
    return memoryview(memory).cast("B")


def allocate(path: str, size: int) -> None:
    """Make a new file of zeros that takes no room on the disk until it is written to, where the file system can."""
    descriptor = new_file(path)
    try:
        os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)


def new_file(path: str) -> int:
    """Open a new file. One that a save left there before it was finished is taken away, not written to: it may be mapped."""
    try:
        return os.open(path, _NEW_FILE, 0o666)
    except FileExistsError:
        os.unlink(path)
        return os.open(path, _NEW_FILE, 0o666)


def _pieces(tensor: Tensor) -> Iterator[Tensor]:
    """Contiguous tensors on the CPU with the elements in order, none much larger than `_CHUNK` unless it needs no copy."""
    if tensor.is_contiguous() and tensor.is_cpu and not tensor.is_conj() and not tensor.is_neg():
        yield tensor
        return
    size = tensor.numel() * tensor.itemsize
    if size <= _CHUNK:
        yield tensor.cpu().resolve_conj().resolve_neg().contiguous()
        return
    rows = _CHUNK // (size // len(tensor))
    # A row that is larger than a piece is taken apart itself.
    for part in torch.split(tensor, rows) if rows else tensor.unbind():
        yield from _pieces(part)


def absolute(path: str | os.PathLike[str]) -> str:
    """The absolute path of a file or folder that a user names.

    Raises:
        TypeError: it is bytes, or not a path.
        ValueError: it is empty, which is a mistake more often than the current folder.
    """
    found: object = os.fspath(path)
    if not isinstance(found, str):
        raise TypeError(f"expected a path as a str or an os.PathLike of str, got {describe(path)}")
    if not found:
        raise ValueError("expected a path, got ''; the current folder is '.'")
    return os.path.abspath(found)


def make_folder(path: str) -> None:
    """Make a folder below one that exists, where it is missing.

    Raises:
        StorageError: something else is there.
    """
    try:
        os.mkdir(path)
    except FileExistsError:
        check_folder(path, path)


def check_folder(path: str, where: str) -> None:
    """Refuse what is not a folder, or a link to one.

    Raises:
        StorageError: that is what is there, or nothing is.
    """
    try:
        found = os.lstat(path)
    except OSError as error:
        raise StorageError(f"{where}: expected a folder at {path}: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise StorageError(f"{where}: expected a folder at {path}, got a link or a file")


def names_in(folder: str) -> set[str]:
    """The names in a folder; none where there is no folder."""
    try:
        return set(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return set()


def make_folders(path: str) -> None:
    """Make a folder and those above it, where they are missing."""
    os.makedirs(path, exist_ok=True)


def put_in_place(source: str, target: str) -> None:
    """Give a finished file its name; the file that had it before stays whole for those who map it."""
    os.replace(source, target)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def sync_folder(path: str) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_FIXED = 0x10
"""`MAP_FIXED`, which the module `mmap` does not have: at this very address, in place of what is there.

It has this number on Linux (x86, ARM), macOS and the BSDs.
"""

_SHARED = getattr(mmap, "MAP_SHARED", 0) | _FIXED
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | _FIXED
_READ_AND_WRITE = getattr(mmap, "PROT_READ", 0) | getattr(mmap, "PROT_WRITE", 0)
_FAILED = ctypes.c_void_p(-1).value

_Map = Callable[[int, int, int, int, int, int], int | None]


def map_open_file(descriptor: int, path: str, dtype: torch.dtype, count: int, *, shared: bool) -> Tensor:
    """The first `count` elements of an open file, which has as many. The tensor unmaps the memory at its end.

    `torch.from_file` takes a path. If another file has got that path since its size was checked, it maps the other file. If a
    file is too short for the tensor, it makes the file longer. So here it only reserves memory. The system's `mmap` then puts the
    open file in its place: the file whose size was checked, and which nothing makes longer.

    Two simpler ways fall short:

    * A map of Python's module `mmap` keeps a copy of the descriptor, so an object of many tensors would hold many open files.
      Python 3.13 can do without (`trackfd=False`).
    * The path `/proc/self/fd/N` leads to the open file, but `torch.from_file` makes that one longer too, and there may be no
      `/proc`.

    Args:
        path: A name of the file.
        shared: Whether what is written to the tensor reaches the file, which has to be open for writing then.

    Raises:
        OSError, RuntimeError: there is no memory, or the path leads to no file.
    """
    if os.name != "posix":  # the system lets nobody replace a file that is open
        return torch.from_file(path, shared=shared, size=count, dtype=dtype, device="cpu")
    tensor = torch.from_file(path, shared=False, size=count, dtype=dtype, device="cpu")
    flags = _SHARED if shared else _PRIVATE
    found = _mmap()(tensor.data_ptr(), count * dtype.itemsize, _READ_AND_WRITE, flags, descriptor, 0)
    if found == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return tensor


@cache
def _mmap() -> _Map:
    """The function of the system. Its offset is as wide as a pointer: torch has builds for 64 bits only."""
    found = ctypes.CDLL(None, use_errno=True).mmap
    found.restype = ctypes.c_void_p
    found.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_ssize_t,
    )
    return cast(_Map, found)
