"""Checkpoints in memory and in files: of safetensors, of `torch.save`, of `torch.distributed.checkpoint`.

Files are mapped into memory: only the pages that are copied are read. Nothing is unpickled but the content that
`torch.load(weights_only=True)` accepts. The metadata of a folder is a pickle too, and nothing that it names runs.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, TypeAlias, cast

import torch
from torch import Tensor

from ...common.checkpoints import SAFETENSORS_DTYPES, SavedPart, SavedTensor, distributed_tensors
from ..sharding.agreement import digest_of
from ..sharding.placements import Part, is_distributed, shares_of, size_of, slices, whole

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

_DTYPES = {name: getattr(torch, spelled) for name, spelled in SAFETENSORS_DTYPES.items() if hasattr(torch, spelled)}
_INDEX = "model.safetensors.index.json"
_METADATA = ".metadata"


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or does not fit the module that is materialised. The message lists every finding.

    >>> try:
    ...     Linear.on_meta(2, 3).materialize("cpu", state_dict={"wieght": torch.ones(2, 3)})
    ... except CheckpointError as error:
    ...     print(error)
    materialize(): state_dict does not fit the module:
        wieght: the module has no parameter or persistent buffer of this name (state_dict)
    """


Chunk: TypeAlias = tuple[Part, Callable[[], Tensor]]
"""A region of a stored tensor, and a function that gives its values, perhaps mapped from a file; not to be written to."""


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
    others: Mapping[str, object] = field(default_factory=dict)
    """The entries that are not tensors."""
    versions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """The entries of `state_dict()`'s metadata for each module, by its path, such as the version."""


def opened(given: Mapping[str, Tensor] | str | os.PathLike[str]) -> Checkpoint:
    """The checkpoint that the user names.

    Raises:
        CheckpointError: nothing is there, or it is not a checkpoint.
        TypeError: it is neither a mapping nor a path.
    """
    if isinstance(given, Mapping):
        return of_mapping(given)
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"materialize(): state_dict is a mapping or a path, got {type(given).__name__}")
    path = os.fspath(given)
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, _METADATA)):
            return _distributed_folder(path)
        if any(name.endswith(".safetensors") for name in os.listdir(path)):
            return _safetensors_folder(path)
        raise CheckpointError(
            f"{path}: expected files of safetensors or a folder of torch.distributed.checkpoint, got a folder with neither"
        )
    if not os.path.exists(path):
        raise CheckpointError(f"{path}: there is no such file or folder")
    return _safetensors_file(path) if path.endswith(".safetensors") else _torch_file(path)


def of_mapping(entries: Mapping[str, object], where: str = "state_dict") -> Checkpoint:
    """Tensors that are in memory, or that `torch.load` mapped."""
    found: dict[str, StoredTensor] = {}
    for name, value in entries.items():
        if not isinstance(value, Tensor):
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
    versions = getattr(entries, "_metadata", None)
    others = {name: value for name, value in entries.items() if name not in found}
    return Checkpoint(where, found, others, versions if isinstance(versions, Mapping) else {})


def read(stored: StoredTensor, into: Tensor) -> int:
    """Copy the values into a tensor on any device, of any dtype, or into the part of a DTensor that this process holds.

    Returns:
        The bytes that were copied out of the checkpoint.

    Raises:
        CheckpointError: the checkpoint has only some of the values.
    """
    with torch.no_grad():
        if not is_distributed(into):
            return read_part(_gathered(stored, None), whole(stored.shape), into)
        source = _gathered(stored, into)
        local = into.to_local()
        return sum(read_part(source, part, local[slices(place)]) for part, place in shares_of(into))


def read_part(stored: StoredTensor, part: Part, into: Tensor) -> int:
    """Copy what the chunks have of a part; the bytes that were copied."""
    wanted = prod(size_of(part))
    copied = 0
    for region, tensor in stored.chunks:
        common = tuple((max(a, first), min(b, last)) for (a, b), (first, last) in zip(part, region, strict=True))
        if wanted and all(start < stop for start, stop in common):
            source = tensor()[slices(_relative(common, region))]
            into[slices(_relative(common, part))].copy_(source)
            copied += source.numel()
    if copied < wanted:
        raise CheckpointError(f"{stored.origin}: it has {copied} of the {wanted} values that are needed")
    return copied * stored.dtype.itemsize


def beginning(stored: StoredTensor) -> str:
    """A digest of some values, so that processes can compare what each is about to load a part of; little is read."""
    if stored.distributed is not None or not stored.chunks or 0 in stored.shape:
        return "in parts"
    values = stored.chunks[0][1]()
    row = values[(0,) * (values.dim() - 1)] if values.dim() else values.reshape(1)
    return f"{str(stored.dtype).removeprefix('torch.')} {digest_of(row[:64])}"


def _gathered(stored: StoredTensor, into: DTensor | None) -> StoredTensor:
    """A DTensor's values as chunks: what this process has if that is what it needs, otherwise collected from the others."""
    given = stored.distributed
    if given is None:
        return stored
    if into is not None and given.device_mesh == into.device_mesh:
        placed = given.redistribute(placements=into.placements)
        local = placed.to_local()
        return replace(stored, chunks=tuple(_of_tensor(local[slices(at)], part) for part, at in shares_of(placed)))
    return replace(stored, chunks=(_of_tensor(given.full_tensor(), whole(stored.shape)),))


def _of_tensor(tensor: Tensor, part: Part) -> Chunk:
    return part, lambda: tensor


def _relative(part: Part, to: Part) -> Part:
    return tuple((start - first, stop - first) for (start, stop), (first, _) in zip(part, to, strict=True))


def _mapped(path: str) -> mmap.mmap:
    """A file as memory. Changes to the memory do not reach the file."""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _tensor_at(memory: mmap.mmap, dtype: torch.dtype, size: Sequence[int], offset: int) -> Tensor:
    if not prod(size):
        return torch.empty(size, dtype=dtype)
    return torch.frombuffer(memory, dtype=dtype, count=prod(size), offset=offset).view(size)


def _safetensors_file(path: str) -> Checkpoint:
    """The tensors in the header of a file: eight bytes with its length, then JSON, then the data."""
    try:
        memory = _mapped(path)
        start = 8 + int.from_bytes(memory[:8], "little")
        if start > len(memory):
            raise ValueError("its header is cut off")
        header = json.loads(memory[8:start])
        entries = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
        return Checkpoint(path, {name: _described(path, memory, name, entry, start) for name, entry in entries})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: expected a file of safetensors; {error}") from error


def _described(path: str, memory: mmap.mmap, name: str, entry: dict[str, object], start: int) -> StoredTensor:
    """A tensor that the header of a file describes; `start` is where the data begins."""
    spelled = cast(str, entry["dtype"])
    if spelled not in _DTYPES:
        raise ValueError(f"{name} has the dtype {spelled}, which this torch does not have")
    dtype: torch.dtype = _DTYPES[spelled]
    shape = tuple(cast("list[int]", entry["shape"]))
    first, last = cast("list[int]", entry["data_offsets"])
    if last - first != prod(shape) * dtype.itemsize or first < 0 or start + last > len(memory):
        raise ValueError(f"its header says that {name} is at {first} to {last}, which does not fit")
    chunk = (whole(shape), partial(_tensor_at, memory, dtype, shape, start + first))
    return StoredTensor(shape, dtype, os.path.basename(path), (chunk,))


def _safetensors_folder(path: str) -> Checkpoint:
    """The tensors of the files that the index of a folder names; of all files of safetensors in it if there is no index."""
    files = sorted(name for name in os.listdir(path) if name.endswith(".safetensors"))
    index = os.path.join(path, _INDEX)
    wanted: dict[str, str] | None = None
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            wanted = cast("dict[str, str]", json.load(file).get("weight_map", {}))
        files = sorted(set(wanted.values()))
    found: dict[str, StoredTensor] = {}
    for name in files:
        if os.path.basename(name) != name or not os.path.exists(os.path.join(path, name)):
            raise CheckpointError(f"{index}: there is no file {name!r} beside it")
        for key, stored in _safetensors_file(os.path.join(path, name)).tensors.items():
            if wanted is not None and wanted.get(key) != name:
                continue
            if key in found:
                raise CheckpointError(f"{path}: {found[key].origin} and {stored.origin} both have {key!r}")
            found[key] = stored
    if wanted is not None and (lost := sorted(wanted.keys() - found.keys())):
        raise CheckpointError(f"{index}: {wanted[lost[0]]} does not have {', '.join(map(repr, lost))}")
    return Checkpoint(path, found)


def _torch_file(path: str) -> Checkpoint:
    """The tensors of a file that `torch.save` wrote, mapped into memory; nested dicts by dotted names."""
    try:
        found = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        summary = str(error).split("\n", 1)[0]
        raise CheckpointError(f"{path}: torch.load(mmap=True, weights_only=True) refuses it: {summary}") from error
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{path}: expected a state dict, got {type(found).__name__}")
    checkpoint = of_mapping(dict(_flattened(found, "")), os.path.basename(path))
    versions = getattr(found, "_metadata", None)
    return replace(checkpoint, where=path, versions=versions if isinstance(versions, Mapping) else {})


def _flattened(values: Mapping[object, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and not str(key).endswith("_extra_state"):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _distributed_folder(path: str) -> Checkpoint:
    """The tensors of a folder that `torch.distributed.checkpoint.save` wrote; nested dicts by dotted names."""
    where = os.path.join(path, _METADATA)
    try:
        with open(where, "rb") as file:
            entries = list(distributed_tensors(file))
    except (pickle.UnpicklingError, AttributeError, LookupError, TypeError, EOFError, ValueError) as error:
        raise CheckpointError(f"{where}: expected metadata of torch.distributed.checkpoint; {error}") from error
    saved = [entry for entry in entries if isinstance(entry, SavedTensor)]
    files = {name: _mapped_beside(path, name) for name in {part.file for entry in saved for part in entry.parts}}
    origin = os.path.basename(os.path.normpath(path))
    tensors: dict[str, StoredTensor] = {}
    for entry in saved:
        if any(part.is_transformed for part in entry.parts):
            raise CheckpointError(
                f"{path}: {entry.name} is compressed; load it by torch.distributed.checkpoint.load, and pass the state dict"
            )
        chunks = tuple(_saved_chunk(os.path.join(path, part.file), part, files[part.file]) for part in entry.parts)
        tensors[entry.name] = StoredTensor(entry.size, getattr(torch, entry.dtype), origin, chunks)
    return Checkpoint(path, tensors, {name: b"" for name in entries if isinstance(name, str)})


def _mapped_beside(folder: str, name: str) -> mmap.mmap:
    if os.path.isabs(name) or ".." in PurePosixPath(name).parts:
        raise CheckpointError(f"{os.path.join(folder, _METADATA)}: it names a file outside of the folder, {name!r}")
    try:
        return _mapped(os.path.join(folder, name))
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{os.path.join(folder, name)}: the metadata names it, and it cannot be read: {error}"
        ) from error


def _saved_chunk(path: str, part: SavedPart, memory: mmap.mmap) -> Chunk:
    """The tensor that `torch.save` wrote into a range of a file: mapped, where torch says at which byte its memory starts."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed.checkpoint.utils import _create_file_view

    def loaded() -> Tensor:
        with open(path, "rb") as opened:
            view = cast("IO[bytes]", _create_file_view(opened, part.start, part.length))
            return cast(Tensor, torch.load(view, "cpu", weights_only=True))

    def values() -> Tensor:
        with FakeTensorMode():
            fake = loaded()
        storage = fake.untyped_storage()
        start = getattr(storage, "_checkpoint_offset", None)
        if start is None:
            return loaded()
        flat = _tensor_at(memory, fake.dtype, (storage.nbytes() // fake.element_size(),), part.start + start)
        return flat.as_strided(fake.shape, fake.stride(), fake.storage_offset())

    return tuple((at, at + size) for at, size in zip(part.offsets, part.sizes, strict=True)), values
