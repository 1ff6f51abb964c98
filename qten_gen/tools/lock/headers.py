"""The content of a checkpoint by its header, held against a lock. It imports no torch, and reads no tensor.

Files of torch and the metadata of `torch.distributed.checkpoint` are pickles, of which nothing runs.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from ...common.checkpoints import SAFETENSORS_DTYPES, StandIn, distributed_tensors, unpickled
from ...common.state_names import Comparison, FileTensor, compared
from .lock import Line, Lock, names, unfolded

_LARGEST_HEADER = 100_000_000
"""The limit of safetensors itself."""

_DAMAGED = (ValueError, LookupError, AttributeError, TypeError, EOFError)
"""Errors that reading a damaged file may raise."""


class HeaderError(ValueError):
    """A file is no checkpoint whose header can be read."""


def header(path: str) -> dict[str, FileTensor]:
    """The tensors of a checkpoint by name: a file of safetensors, its index, a file of torch, or a folder with one of these.

    Raises:
        HeaderError: It is none of these, or damaged.
        OSError: It cannot be read.
    """
    try:
        if os.path.isdir(path):
            return header(_in_folder(path))
        if path.endswith(".json"):
            return _of_index(path)
        if os.path.basename(path) == ".metadata":
            return dict(_of_distributed(path))
        return dict(_of_torch(path)) if _is_archive(path) else _of_safetensors(path)
    except (*_DAMAGED, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        if isinstance(error, HeaderError):
            raise
        raise HeaderError(f"{path} is no checkpoint that can be read: {error}") from None


def _is_archive(path: str) -> bool:
    """True for a file of torch, which is a ZIP archive."""
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _in_folder(folder: str) -> str:
    for name in ("model.safetensors.index.json", "model.safetensors", ".metadata", "pytorch_model.bin"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise HeaderError(f"{folder} has no model.safetensors, no index of one, no .metadata and no pytorch_model.bin")


def _of_safetensors(path: str) -> dict[str, FileTensor]:
    """The tensors of a file of safetensors, whose header is JSON. No two names of such a file are one tensor."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 1 < size <= _LARGEST_HEADER:
            raise HeaderError(f"{path} is neither a file of safetensors nor one of torch")
        text = file.read(size)
    known: dict[tuple[object, ...], FileTensor] = {}  # the same few for all layers

    def stored(entry: dict[str, Any]) -> object:
        """Replaces each object of the JSON while it is parsed, which saves a third of the time."""
        if "data_offsets" not in entry:
            return entry
        dtype: str = entry["dtype"]
        sizes: list[int] = entry["shape"]
        found = known.get((dtype, *sizes))
        if found is None:  # a dtype that is newer than the table is shown as it is
            found = known[dtype, *sizes] = FileTensor(SAFETENSORS_DTYPES.get(dtype, dtype), str(sizes))
        return found

    tensors: dict[str, FileTensor] = json.loads(text, object_hook=stored)
    tensors.pop("__metadata__", None)
    if set(map(type, tensors.values())) - {FileTensor}:
        raise HeaderError(f"{path} is no checkpoint that can be read: its header lists other things than tensors")
    return tensors


def _of_index(path: str) -> dict[str, FileTensor]:
    with open(path, encoding="utf-8") as file:
        placed: Mapping[str, str] = json.load(file)["weight_map"]
    folder = os.path.dirname(path)
    files = {name: header(os.path.join(folder, name)) for name in dict.fromkeys(placed.values())}
    missing = [name for name, file in placed.items() if name not in files[file]]
    if missing:
        raise HeaderError(f"{path}: {missing[0]} is not in {placed[missing[0]]}, where the index has it")
    return {name: files[file][name]._replace(memory=None) for name, file in placed.items()}


def held(file: Mapping[str, FileTensor], lock: Lock) -> Comparison:
    """The differences between the tensors of a file and a lock."""
    wanted: dict[str, Line] = {}
    for line in filter(lambda line: line.is_saved, lock.lines):
        if line.tie:
            wanted.update((each.name, each) for each in unfolded([line]))
        else:  # its tensors have other names, and are equal in all else
            wanted.update(dict.fromkeys(names(line), line))
    return compared(file, wanted)


_STORAGES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}


def _of_torch(path: str) -> Iterator[tuple[str, FileTensor]]:
    """The tensors of a dict that `torch.save` wrote, or of the model in a dict of a trainer."""
    with zipfile.ZipFile(path) as file:
        pickled = next((name for name in file.namelist() if name.endswith("/data.pkl")), None)
        if pickled is None:
            raise ValueError("it has no data.pkl, so it is no file of torch")
        found = unpickled(io.BytesIO(file.read(pickled)))
    for key in ("state_dict", "model", "module"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
            break
    if not isinstance(found, Mapping):
        raise ValueError(f"it holds a {type(found).__name__}, not a dict of tensors")
    for name, value in found.items():
        stored = _tensor(value)
        if stored is not None:
            yield str(name), stored


def _tensor(value: object) -> FileTensor | None:
    """The tensor that a call of torch's would rebuild."""
    if not isinstance(value, StandIn):
        return None
    made = type(value).__name__
    if made in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        return _tensor(value.args[0])
    if made not in ("_rebuild_tensor_v2", "_rebuild_tensor_v3"):
        return None
    (_, storage, key, *_), offset, size = value.args[:3]
    dtype = value.args[6].__name__ if made.endswith("v3") else _STORAGES[storage.__name__.removesuffix("Storage")]
    return FileTensor(dtype, str(list(size)), (key, offset))


def _of_distributed(path: str) -> Iterator[tuple[str, FileTensor]]:
    with open(path, "rb") as file:
        for saved in distributed_tensors(file):
            if not isinstance(saved, str):  # the others are bytes
                yield saved.name, FileTensor(saved.dtype, str(list(saved.size)))
