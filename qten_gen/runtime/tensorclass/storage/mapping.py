"""The memory of a tensor mapped to an open file.

`torch.from_file` is told a path. Where another file has taken that path since somebody looked at its size, it maps the other one,
and it makes a file longer that is too short for the tensor. So it is only asked for memory here, which is then mapped anew: to
the file that is open, whose size was looked at, and which nothing makes longer.
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
"""`MAP_FIXED`, which the module `mmap` does not have: at just this address, in place of what is there."""

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
    """The function of the system."""
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
