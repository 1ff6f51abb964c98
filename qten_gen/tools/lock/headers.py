"""The content of a checkpoint by its header: names, shapes and dtypes. It imports no torch, and reads no tensor."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...common.safetensors_dtypes import SAFETENSORS_DTYPES
from ...common.state_differences import Stored

_LARGEST_HEADER = 100_000_000
"""That of safetensors itself."""


class HeaderError(ValueError):
    """A file is no checkpoint whose header can be read."""


def header(path: str) -> dict[str, Stored]:
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
        if os.path.basename(path) == ".metadata" or _is_archive(path):
            from .pickled_headers import pickled_header

            return pickled_header(path)
        return _of_safetensors(path)
    except (ValueError, LookupError, AttributeError, TypeError, EOFError) as error:
        if isinstance(error, HeaderError):
            raise
        raise HeaderError(f"{path} is no checkpoint that can be read: {error}") from None


def _is_archive(path: str) -> bool:
    """Whether a file is one of torch, which is a ZIP archive."""
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _in_folder(folder: str) -> str:
    for name in ("model.safetensors.index.json", "model.safetensors", ".metadata", "pytorch_model.bin"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise HeaderError(f"{folder} has no model.safetensors, no index of one, no .metadata and no pytorch_model.bin")


def _of_safetensors(path: str) -> dict[str, Stored]:
    """The tensors of a file of safetensors, whose header is JSON. No two names of such a file are one tensor."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 1 < size <= _LARGEST_HEADER:
            raise HeaderError(f"{path} is neither a file of safetensors nor one of torch")
        text = file.read(size)
    known: dict[tuple[object, ...], Stored] = {}  # the same few for all layers

    def stored(entry: dict[str, Any]) -> object:
        """The replacement of an object of the JSON: that of a tensor is forgotten at once, which saves a third of the time."""
        if "data_offsets" not in entry:
            return entry
        dtype: str = entry["dtype"]
        sizes: list[int] = entry["shape"]
        found = known.get((dtype, *sizes))
        if found is None:  # a dtype that is newer than the table is shown as it is
            found = known[dtype, *sizes] = Stored(SAFETENSORS_DTYPES.get(dtype, dtype), str(sizes))
        return found

    tensors: dict[str, Stored] = json.loads(text, object_hook=stored)
    tensors.pop("__metadata__", None)
    if set(map(type, tensors.values())) - {Stored}:
        raise HeaderError(f"{path} is no checkpoint that can be read: its header lists other things than tensors")
    return tensors


def _of_index(path: str) -> dict[str, Stored]:
    with open(path, encoding="utf-8") as file:
        placed: Mapping[str, str] = json.load(file)["weight_map"]
    folder = os.path.dirname(path)
    files = {name: header(os.path.join(folder, name)) for name in dict.fromkeys(placed.values())}
    missing = [name for name, file in placed.items() if name not in files[file]]
    if missing:
        raise HeaderError(f"{path}: {missing[0]} is not in {placed[missing[0]]}, where the index has it")
    return {name: files[file][name]._replace(memory=None) for name, file in placed.items()}
