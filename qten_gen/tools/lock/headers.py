"""The content of a checkpoint by the header of its safetensors, held against a lock. It imports no torch, and reads no tensor."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...common.state_differences import SAFETENSORS_DTYPES, Comparison, FileTensor, compared
from .lock import Line, Lock, names, unfolded

_LARGEST_HEADER = 100_000_000
"""The limit of safetensors itself."""

_INDEX = "model.safetensors.index.json"


class HeaderError(ValueError):
    """A file is no checkpoint whose header can be read."""


def header(path: str) -> dict[str, FileTensor]:
    """The tensors of a checkpoint by name: a file of safetensors, its index, or a folder with one of these.

    Raises:
        HeaderError: It is none of these, or damaged.
        OSError: It cannot be read.
    """
    try:
        if os.path.isdir(path):
            found = next(
                (name for name in (_INDEX, "model.safetensors") if os.path.exists(os.path.join(path, name))), ""
            )
            if not found:
                raise HeaderError(f"{path} has neither a model.safetensors nor a {_INDEX}")
            return header(os.path.join(path, found))
        return _of_index(path) if path.endswith(".json") else _of_safetensors(path)
    except HeaderError:
        raise
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        raise HeaderError(f"{path} is no checkpoint that can be read: {error}") from None


def _of_safetensors(path: str) -> dict[str, FileTensor]:
    """The tensors of a file of safetensors, whose header is JSON. No two names of such a file are one tensor."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 1 < size <= _LARGEST_HEADER:
            advice = "for one of torch, qten_gen.compare(model, torch.load(...)) says the same"
            raise HeaderError(f"{path} is no file of safetensors; {advice}")
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
    return {name: files[file][name] for name, file in placed.items()}


def held(file: Mapping[str, FileTensor], lock: Lock) -> Comparison:
    """The differences between the tensors of a file and a lock."""
    wanted: dict[str, Line] = {}
    for line in filter(lambda line: line.is_saved, lock.lines):
        if line.tie:
            wanted.update((each.name, each) for each in unfolded([line]))
        else:  # its tensors have other names, and are equal in all else
            wanted.update(dict.fromkeys(names(line), line))
    return compared(file, wanted)
