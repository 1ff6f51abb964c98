"""Checkpoints that torch wrote: a file of `torch.save`, or a folder of `torch.distributed.checkpoint`.

Nothing is unpickled but what `torch.load(weights_only=True)` accepts. The metadata of a folder is a pickle too: of it, only the
records that `torch.distributed.checkpoint` writes are read.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import IO, Any, cast

import torch
from torch import Tensor

from .checkpoints import Checkpoint, CheckpointError, Chunk, StoredTensor, of_mapping
from .mapped_files import MappedFile, Section, mapped

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
    from torch.distributed.checkpoint.metadata import MetadataIndex, TensorStorageMetadata

    where = os.path.join(path, METADATA)
    try:
        with open(where, "rb") as file:
            metadata = _Metadata(file).load()
        entries = dict(metadata.state_dict_metadata)
        places = dict(metadata.storage_data or {})
    except (pickle.UnpicklingError, AttributeError, TypeError, EOFError, ValueError) as error:
        raise CheckpointError(f"{where}: expected metadata of torch.distributed.checkpoint; {error}") from error
    files = {name: _file(path, name) for name in {place.relative_path for place in places.values()}}
    tensors: dict[str, StoredTensor] = {}
    others: dict[str, str] = {}
    for name, entry in entries.items():
        if not isinstance(entry, TensorStorageMetadata):
            others[name] = "bytes"
            continue
        chunks = []
        for chunk in entry.chunks:
            part = tuple((start, start + extent) for start, extent in zip(chunk.offsets, chunk.sizes, strict=True))
            place = places.get(MetadataIndex(name, chunk.offsets))
            if place is None:
                raise CheckpointError(f"{where}: it does not say where {name} is")
            if getattr(place, "transform_descriptors", None):
                raise CheckpointError(
                    f"{path}: {name} is compressed; load it by torch.distributed.checkpoint.load, and pass the state dict"
                )
            saved = files[place.relative_path]
            chunks.append(Chunk(part, partial(_saved, saved, place.offset, place.length), saved.release))
        origin = os.path.basename(os.path.normpath(path))
        tensors[name] = StoredTensor(tuple(entry.size), entry.properties.dtype, origin, tuple(chunks))
    return Checkpoint(path, tensors, others)


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

    with FakeTensorMode():
        fake = torch.load(cast("IO[bytes]", Section(file, offset, length)), weights_only=True)
    storage = fake.untyped_storage()
    start = getattr(storage, "_checkpoint_offset", None)
    if start is None:
        found: Tensor = torch.load(
            cast("IO[bytes]", Section(file, offset, length)), map_location="cpu", weights_only=True
        )
        return found
    flat = file.tensor(fake.dtype, (storage.nbytes() // fake.element_size(),), offset + start)
    return flat.as_strided(fake.shape, fake.stride(), fake.storage_offset())


_RECORDS = {
    "torch.distributed.checkpoint.metadata": {
        "BytesStorageMetadata",
        "ChunkStorageMetadata",
        "Metadata",
        "MetadataIndex",
        "StorageMeta",
        "TensorProperties",
        "TensorStorageMetadata",
        "_MEM_FORMAT_ENCODING",
    },
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch.serialization": {"_get_layout"},
    "torch": {"Size"},
    "collections": {"OrderedDict"},
}
"""The classes that the metadata consists of, by module. `_get_layout` turns a name into a layout."""

_PATHS = {"PosixPath": PurePosixPath, "PurePosixPath": PurePosixPath, "WindowsPath": PureWindowsPath}


class _Metadata(pickle.Unpickler):
    """Reads the metadata of a folder, and refuses every class that it does not consist of."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("pathlib") and name in _PATHS:
            return _PATHS[name]
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
        if name in _RECORDS.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not loaded")
