"""Checkpoints in files of safetensors: one, or a folder of them.

The package is not needed. Its `get_slice` keeps every page that it has read, and copies columns: 23 and 42 MB
beside a part of 21 MB, where this reader takes 4.
"""

from __future__ import annotations

import json
import os
from math import prod
from typing import cast

import torch

from ...common.safetensors_dtypes import SAFETENSORS_DTYPES
from ..sharding.regions import whole
from .checkpoints import Checkpoint, CheckpointError, Chunk, StoredTensor
from .mapped_files import MappedFile, mapped

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
