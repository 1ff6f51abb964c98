"""Files that are mapped into memory, and tensors in them."""

from __future__ import annotations

import io
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file. Its pages are read when something in them is, and changes to the memory do not reach the file."""

    path: str
    memory: mmap.mmap

    def tensor(self, dtype: torch.dtype, size: Sequence[int], offset: int) -> Tensor:
        """A contiguous tensor whose bytes begin at `offset`."""
        count = prod(size)
        if not count:
            return torch.empty(size, dtype=dtype)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=offset).view(size)

    def release(self) -> None:
        """Let the system take back the pages that were read. They are read again when they are needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.memory.madvise(mmap.MADV_DONTNEED)


def mapped(path: str) -> MappedFile:
    """Map a file.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is empty.
    """
    with open(path, "rb") as file:
        return MappedFile(path, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))


class Section(io.RawIOBase):
    """A range of a mapped file as a file to read from. What is not read is not copied."""

    def __init__(self, file: MappedFile, offset: int, length: int) -> None:
        super().__init__()
        self._bytes = memoryview(file.memory)[offset : offset + length]
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._bytes)}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type] # a buffer has no type before Python 3.12
        found = self._bytes[self._at : self._at + len(target)]
        target[: len(found)] = found
        self._at += len(found)
        return len(found)
