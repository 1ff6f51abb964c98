"""The memory of a tensor mapped to an open file.

`torch.from_file` takes a path. If another file has got that path since its size was checked, it maps the other file. If a file
is too short for the tensor, it makes the file longer. So here it only reserves memory. The system's `mmap` then puts the open
file in its place: the file whose size was checked, and which nothing makes longer. The tensor unmaps the memory at its end.

Two simpler ways fall short:

* A map of Python's module `mmap` keeps a copy of the descriptor, so an object of many tensors would hold many open files.
  Python 3.13 can do without (`trackfd=False`).
* The path `/proc/self/fd/N` leads to the open file, but `torch.from_file` makes that one longer too, and there may be no `/proc`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from functools import cache
from typing import cast

import torch
from torch import Tensor

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
    """The first `count` elements of an open file, which has as many.

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
