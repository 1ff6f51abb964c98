"""Checkpoints in files: of safetensors, one or a folder of them; of `torch.save`; of `torch.distributed.checkpoint`.

The package safetensors is not needed. Its `get_slice` keeps every page that it has read, and copies columns: 23 and 42 MB
beside a part of 21 MB, where this reader takes 4.

Nothing is unpickled but the content that `torch.load(weights_only=True)` accepts. The metadata of a folder is a pickle too, and
nothing that it names runs.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator, Mapping
from functools import partial
from math import prod
from pathlib import PurePosixPath
from typing import IO, cast

import torch
from torch import Tensor

from ...common.pickled_checkpoints import SavedPart, distributed_tensors
from ...common.safetensors_dtypes import SAFETENSORS_DTYPES
from ..sharding.placements import whole
from .checkpoints import Checkpoint, CheckpointError, Chunk, MappedFile, StoredTensor, mapped, of_mapping

INDEX = "model.safetensors.index.json"

_DTYPES = {name: getattr(torch, spelled) for name, spelled in SAFETENSORS_DTYPES.items() if hasattr(torch, spelled)}


def safetensors_file(path: str) -> Checkpoint:
    """The tensors of a file.

    Raises:
        CheckpointError: it is not a file of that format.
    """
    try:
        file = mapped(path)
        return Checkpoint(path, _tensors(file))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: expected a file of safetensors; {error}") from error


def safetensors_folder(path: str) -> Checkpoint:
    """The tensors of the files that the index of a folder names; of all files of safetensors in it if there is no index.

    Raises:
        CheckpointError: a file is missing or unreadable, or two have a tensor of one name.
    """
    files = sorted(name for name in os.listdir(path) if name.endswith(".safetensors"))
    index = os.path.join(path, INDEX)
    wanted: dict[str, str] | None = None
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            wanted = json.load(file).get("weight_map", {})
        files = sorted(set(cast("dict[str, str]", wanted).values()))
    found: dict[str, StoredTensor] = {}
    for name in files:
        if os.path.basename(name) != name or not os.path.exists(os.path.join(path, name)):
            raise CheckpointError(f"{index}: there is no file {name!r} beside it")
        for key, stored in safetensors_file(os.path.join(path, name)).tensors.items():
            if wanted is not None and wanted.get(key) != name:
                continue
            if key in found:
                raise CheckpointError(f"{path}: {found[key].origin} and {stored.origin} both have {key!r}")
            found[key] = stored
    if wanted is not None and (lost := sorted(wanted.keys() - found.keys())):
        raise CheckpointError(f"{index}: {wanted[lost[0]]} does not have {', '.join(map(repr, lost))}")
    return Checkpoint(path, found)


def _tensors(file: MappedFile) -> dict[str, StoredTensor]:
    """The tensors in the header of a file: eight bytes with its length, then JSON, then the data."""
    length = int.from_bytes(file.memory[:8], "little")
    start = 8 + length
    if start > len(file.memory):
        raise ValueError("its header is cut off")
    header = json.loads(file.memory[8:start])
    return {name: _stored(file, name, entry, start) for name, entry in header.items() if name != "__metadata__"}


def _stored(file: MappedFile, name: str, entry: dict[str, object], start: int) -> StoredTensor:
    """A tensor that the header of a file describes; `start` is where the data begins."""
    spelled = cast(str, entry["dtype"])
    if spelled not in _DTYPES:
        raise ValueError(f"{name} has the dtype {spelled}, which this torch does not have")
    dtype: torch.dtype = _DTYPES[spelled]
    shape = tuple(cast("list[int]", entry["shape"]))
    first, last = cast("list[int]", entry["data_offsets"])
    if last - first != prod(shape) * dtype.itemsize or first < 0 or start + last > len(file.memory):
        raise ValueError(f"its header says that {name} is at {first} to {last}, which does not fit")
    chunk = Chunk(whole(shape), lambda: file.tensor(dtype, shape, start + first), file.release)
    return StoredTensor(shape, dtype, os.path.basename(file.path), (chunk,))


METADATA = ".metadata"


def torch_file(path: str) -> Checkpoint:
    """The tensors of a file that `torch.save` wrote, mapped into memory; nested dicts by dotted names.

    Raises:
        CheckpointError: it is not such a file, or holds more than tensors, numbers and containers.
    """
    try:
        found = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        summary = str(error).split("\n", 1)[0]
        raise CheckpointError(f"{path}: torch.load(mmap=True, weights_only=True) refuses it: {summary}") from error
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{path}: expected a state dict, got {type(found).__name__}")
    flat = dict(_flattened(found, ""))
    checkpoint = of_mapping(flat, os.path.basename(path))
    versions = getattr(found, "_metadata", None)
    return Checkpoint(path, checkpoint.tensors, checkpoint.others, versions if isinstance(versions, Mapping) else {})


def _flattened(values: Mapping[object, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def distributed_folder(path: str) -> Checkpoint:
    """The tensors of a folder that `torch.distributed.checkpoint.save` wrote; nested dicts by dotted names.

    Raises:
        CheckpointError: the metadata is not what `torch.distributed.checkpoint` writes, or a file is missing.
    """
    where = os.path.join(path, METADATA)
    try:
        with open(where, "rb") as file:
            entries = list(distributed_tensors(file))
    except (pickle.UnpicklingError, AttributeError, LookupError, TypeError, EOFError, ValueError) as error:
        raise CheckpointError(f"{where}: expected metadata of torch.distributed.checkpoint; {error}") from error
    saved = [entry for entry in entries if not isinstance(entry, str)]
    files = {name: _file(path, name) for name in {part.file for entry in saved for part in entry.parts}}
    origin = os.path.basename(os.path.normpath(path))
    tensors: dict[str, StoredTensor] = {}
    for entry in saved:
        if any(part.is_transformed for part in entry.parts):
            raise CheckpointError(
                f"{path}: {entry.name} is compressed; load it by torch.distributed.checkpoint.load, and pass the state dict"
            )
        chunks = tuple(_chunk(part, files[part.file]) for part in entry.parts)
        tensors[entry.name] = StoredTensor(entry.size, getattr(torch, entry.dtype), origin, chunks)
    return Checkpoint(path, tensors, {name: "bytes" for name in entries if isinstance(name, str)})


def _chunk(part: SavedPart, file: MappedFile) -> Chunk:
    region = tuple((start, start + extent) for start, extent in zip(part.offsets, part.sizes, strict=True))
    return Chunk(region, partial(_saved, file, part.start, part.length), file.release)


def _file(folder: str, name: str) -> MappedFile:
    if os.path.isabs(name) or ".." in PurePosixPath(name).parts:
        raise CheckpointError(f"{os.path.join(folder, METADATA)}: it names a file outside of the folder, {name!r}")
    try:
        return mapped(os.path.join(folder, name))
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{os.path.join(folder, name)}: the metadata names it, and it cannot be read: {error}"
        ) from error


def _saved(file: MappedFile, offset: int, length: int) -> Tensor:
    """The tensor that `torch.save` wrote into a range of a file: mapped, where torch says at which byte its memory starts."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed.checkpoint.utils import _create_file_view

    def loaded() -> Tensor:
        with open(file.path, "rb") as opened:
            found: Tensor = torch.load(
                cast("IO[bytes]", _create_file_view(opened, offset, length)), "cpu", weights_only=True
            )
            return found

    with FakeTensorMode():
        fake = loaded()
    storage = fake.untyped_storage()
    start = getattr(storage, "_checkpoint_offset", None)
    if start is None:
        return loaded()
    flat = file.tensor(fake.dtype, (storage.nbytes() // fake.element_size(),), offset + start)
    return flat.as_strided(fake.shape, fake.stride(), fake.storage_offset())
