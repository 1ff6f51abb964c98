"""Checkpoints as sources of values: which tensors one has, and reading the parts that a process needs.

A stored tensor consists of chunks, each a region of it. The chunk of a file is mapped into memory: only pages that are copied are
read.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..sharding.agreement import digest_of
from ..sharding.placements import Part, is_distributed, shares_of, size_of, slices, whole

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


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


STEP = 2 << 20
"""Bytes of a file that are in memory before its pages are given back."""

_SEEN = 64
"""How many values of a tensor the digest is of that processes compare."""


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or does not fit the module that is materialised. The message lists every finding.

    >>> try:
    ...     Linear.on_meta(2, 3).materialize("cpu", state_dict={"wieght": torch.ones(2, 3)})
    ... except CheckpointError as error:
    ...     print(error)
    materialize(): state_dict does not fit the module:
        wieght: the module has no parameter or persistent buffer of this name (state_dict)
    """


@dataclass(frozen=True, slots=True)
class Chunk:
    """A region of a stored tensor."""

    part: Part
    tensor: Callable[[], Tensor]
    """The values of the region, perhaps mapped from a file; not to be written to."""
    release: Callable[[], object] = lambda: None
    """Gives back the memory of the pages that were read."""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a checkpoint."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    origin: str
    """Where it is, for the report: `model-00001.safetensors`."""
    chunks: tuple[Chunk, ...]
    distributed: DTensor | None = None
    """The DTensor that has the values, whose processes have to read it together."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tensors of a checkpoint by name, and what else is in it."""

    where: str
    """The user's name for it, for messages."""
    tensors: Mapping[str, StoredTensor]
    others: Mapping[str, str] = field(default_factory=dict)
    """Entries that are not tensors, with the name of their type."""
    versions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """The entries of `state_dict()`'s metadata for each module, by its path, such as the version."""


def read(stored: StoredTensor, into: Tensor) -> int:
    """Copy the values into a tensor on any device, of any dtype, or into the part of a DTensor that this process holds.

    Returns:
        The bytes that were copied out of the checkpoint.

    Raises:
        CheckpointError: the checkpoint has only some of the values.
    """
    with torch.no_grad():
        if not is_distributed(into):
            return _read_part(_gathered(stored, None), whole(stored.shape), into)
        source = _gathered(stored, into)
        local = into.to_local()
        return sum(_read_part(source, share.part, local[slices(share.local)]) for share in shares_of(into))


def beginning(stored: StoredTensor) -> str:
    """A digest of some values, so that processes can compare what each is about to load a part of; little is read."""
    if stored.distributed is not None or not stored.chunks or 0 in stored.shape:
        return "in parts"
    chunk = stored.chunks[0]
    values = chunk.tensor()
    row = values[(0,) * (values.dim() - 1)] if values.dim() else values.reshape(1)
    digest = digest_of(row[:_SEEN])
    chunk.release()
    return f"{str(stored.dtype).removeprefix('torch.')} {digest}"


def _gathered(stored: StoredTensor, into: DTensor | None) -> StoredTensor:
    """A DTensor's values as chunks: what this process has if that is what it needs, otherwise collected from the others."""
    given = stored.distributed
    if given is None:
        return stored
    same_mesh = into is not None and given.device_mesh == into.device_mesh
    if into is not None and same_mesh:
        placed = given.redistribute(placements=into.placements)
        local = placed.to_local()
        chunks = tuple(_of_tensor(local[slices(share.local)], share.part) for share in shares_of(placed))
        return replace(stored, chunks=chunks)
    return replace(stored, chunks=(_of_tensor(given.full_tensor(), whole(stored.shape)),))


def _of_tensor(tensor: Tensor, part: Part) -> Chunk:
    return Chunk(part, lambda: tensor)


def _read_part(stored: StoredTensor, part: Part, into: Tensor) -> int:
    """Copy what the chunks have of a part."""
    wanted = prod(size_of(part))
    copied = 0
    for chunk in stored.chunks:
        common = tuple(
            (max(start, first), min(stop, last)) for (start, stop), (first, last) in zip(part, chunk.part, strict=True)
        )
        if any(start >= stop for start, stop in common) or not wanted:
            continue
        source = chunk.tensor()[slices(_relative(common, chunk.part))]
        _copy(source, into[slices(_relative(common, part))], chunk.release)
        copied += source.numel()
    if copied < wanted:
        raise CheckpointError(f"{stored.origin}: it has {copied} of the {wanted} values that are needed")
    return copied * stored.dtype.itemsize


def _relative(part: Part, to: Part) -> Part:
    return tuple((start - first, stop - first) for (start, stop), (first, _) in zip(part, to, strict=True))


def _copy(source: Tensor, target: Tensor, release: Callable[[], object]) -> None:
    """Copy step by step along the first dimensions, so that neither a conversion nor the pages of a file need much memory."""
    rows = source.shape[0] if source.dim() else 1
    between = source.stride(0) * source.element_size() if source.dim() else 0
    touched = max(rows * between, source.numel() * source.element_size())
    if touched <= STEP or source.dim() == 0:
        target.copy_(source)
        release()
        return
    at_once = max(1, rows * STEP // touched)
    for start in range(0, rows, at_once):
        if at_once == 1 and source.dim() > 1:
            _copy(source[start], target[start], release)
        else:
            target[start : start + at_once].copy_(source[start : start + at_once])
            release()


def of_mapping(tensors: Mapping[str, object], where: str = "state_dict") -> Checkpoint:
    """Tensors that are in memory, or that `torch.load` mapped."""
    found: dict[str, StoredTensor] = {}
    others: dict[str, str] = {}
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            others[name] = type(value).__name__
            continue
        if value.is_meta:
            raise CheckpointError(f"{where}: {name} is on meta and has no values")
        values = value.detach()
        if is_distributed(values):
            found[name] = StoredTensor(tuple(value.shape), value.dtype, where, (), values)
        else:
            found[name] = StoredTensor(
                tuple(value.shape), value.dtype, where, (_of_tensor(values, whole(value.shape)),)
            )
    versions = getattr(tensors, "_metadata", None)
    return Checkpoint(where, found, others, versions if isinstance(versions, Mapping) else {})
