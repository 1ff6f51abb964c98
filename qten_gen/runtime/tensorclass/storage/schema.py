"""The content of metadata: a tree of levels, one for each object, dict or list, with the tensors in it.

Read strictly: whatever this package would not have written is refused.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, TypeAlias, cast

import torch

from .dtypes import DTYPES, dtype_name
from .file_names import checked
from .json_values import Json
from .storage_errors import StorageError

SCHEMA: Final = "qten-gen/memory-map"
"""Names the meaning of the metadata, whatever package or class it comes from."""

VERSION: Final = 1
"""Raised when older readers could no longer read what is written."""

SECTION: Final = "_qten"
"""Our part of `meta.json`; the rest of it is for tensordict."""

_LARGEST = 2**62
_DEEPEST = 100


class TensorEntry(NamedTuple):
    """A tensor: the bytes of its elements in `file`, in row-major order. Without elements there is no file."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    file: str

    @property
    def size(self) -> int:
        """Bytes that the file has to have."""
        return math.prod(self.shape) * self.dtype.itemsize


class StaticEntry(NamedTuple):
    """A static value as `json_values` encodes it.

    When it is saved it has the folder too in which tensordict looks for it, unless it is nothing that JSON has a word for.
    """

    value: Json
    shown: Json = None
    folder: str = ""
    stacked: bool = False
    """Whether `shown` is lists with one value for each item."""


class Level(NamedTuple):
    """An object, or a dict or list of tensors, and the folder below its owner's that it lies in."""

    kind: Literal["class", "dict", "list"]
    name: str
    """Name of the class when it was saved, for people to read."""
    batch_size: tuple[int, ...]
    names: tuple[str | None, ...] | None
    folder: str
    entries: dict[str, Entry]


Entry: TypeAlias = TensorEntry | StaticEntry | Level | None
"""The entry of a key. None is a field without a value."""


class Metadata(NamedTuple):
    """The metadata of a folder. A file may still have its name with the token of the save behind it."""

    level: Level
    token: str


def to_json(metadata: Metadata) -> dict[str, Json]:
    """Our section of `meta.json`."""
    return {"schema": SCHEMA, "version": VERSION, "token": metadata.token, "root": _level_to_json(metadata.level)}


def _level_to_json(level: Level) -> dict[str, Json]:
    made: dict[str, Json] = {"kind": level.kind, "class": level.name, "batch_size": list(level.batch_size)}
    if level.names is not None:
        made["names"] = list(level.names)
    if level.folder:
        made["folder"] = level.folder
    made["entries"] = {key: _entry_to_json(entry) for key, entry in level.entries.items()}
    return made


def _entry_to_json(entry: Entry) -> Json:
    if entry is None:
        return None
    if isinstance(entry, StaticEntry):
        return {"value": entry.value}
    if isinstance(entry, Level):
        return {"level": _level_to_json(entry)}
    return {"dtype": dtype_name(entry.dtype), "shape": list(entry.shape), "file": entry.file}


def from_json(section: Json, where: str) -> Metadata:
    """The metadata of a section of `meta.json`; `where` is its path, for errors.

    Raises:
        StorageError: the section is not one that this package writes, or one of a later version.
    """
    found = _mapping(section, where, SECTION)
    if found.get("schema") != SCHEMA:
        raise StorageError(f"{where}: expected schema {SCHEMA!r}, got {found.get('schema')!r}")
    # True equals 1.
    if found.get("version") != VERSION or isinstance(found["version"], bool):
        raise StorageError(
            f"{where}: expected format version {VERSION}, got {found.get('version')!r}; a later release of qten-gen may read it"
        )
    token = found.get("token")
    if not isinstance(token, str) or not token.isalnum():
        raise StorageError(f"{where}: expected the token of a save, got {token!r}")
    return Metadata(_level(found.get("root"), where, "root", 0), token)


def _level(value: Json | None, path: str, key: str, depth: int) -> Level:
    """A level from JSON, every part checked."""
    found = _mapping(value, path, key)
    kind = found.get("kind")
    if kind not in ("class", "dict", "list") or depth > _DEEPEST:
        raise StorageError(f"{path}: {key}: expected the kind of a level, got {kind!r}")
    batch_size = shape(found.get("batch_size"), path, "batch_size")
    entries = _mapping(found.get("entries"), path, key)
    return Level(
        kind=cast("Literal['class', 'dict', 'list']", kind),
        name=str(found.get("class")),
        batch_size=batch_size,
        names=_names(found["names"], len(batch_size), path) if "names" in found else None,
        folder=checked(found.get("folder"), path, key) if depth else "",
        entries={key: _entry(entry, path, key, depth) for key, entry in entries.items()},
    )


def _names(value: Json, dimensions: int, path: str) -> tuple[str | None, ...]:
    if (
        not isinstance(value, list)
        or len(value) != dimensions
        or not all(name is None or isinstance(name, str) for name in value)
    ):
        raise StorageError(f"{path}: expected a name or null for each of {dimensions} dimensions, got {value!r}")
    return tuple(cast("list[str | None]", value))


def _entry(value: Json, path: str, key: str, depth: int) -> Entry:
    if value is None:
        return None
    found = _mapping(value, path, key)
    if "file" in found:
        file = checked(found["file"], path, key)
        return TensorEntry(dtype(found.get("dtype"), path, key), shape(found.get("shape"), path, key), file)
    if "value" in found:
        return StaticEntry(found["value"])
    return _level(found.get("level"), path, key, depth + 1)


def dtype(value: Json | None, path: str, key: str) -> torch.dtype:
    """A dtype by its name, as metadata gives it."""
    found = DTYPES.get(value) if isinstance(value, str) else None
    if found is None:
        raise StorageError(f"{path}: {key}: expected a dtype, got {value!r}")
    return found


def shape(value: Json | None, path: str, key: str) -> tuple[int, ...]:
    """A shape, as metadata gives it."""
    if not isinstance(value, list) or len(value) > 64:
        raise StorageError(f"{path}: {key}: expected a shape, got {str(value)[:80]}")
    elements = 1
    for size in value:
        if type(size) is not int or size < 0:
            raise StorageError(f"{path}: {key}: expected a shape, got {str(value)[:80]}")
        # A 0 must not hide how large the other sizes are.
        elements *= size or 1
    if elements > _LARGEST:
        raise StorageError(f"{path}: {key}: expected a shape of at most {_LARGEST} elements, got {str(value)[:80]}")
    return tuple(cast("list[int]", value))


def _mapping(value: Json | None, path: str, key: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise StorageError(f"{path}: {key}: expected an object, got {str(value)[:80]}")
    return value
