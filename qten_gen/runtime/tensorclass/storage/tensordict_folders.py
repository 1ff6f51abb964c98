"""Folders in tensordict's layout: what our metadata says for it, and the reading of folders that it wrote.

A tensordict's folder has a `meta.json` with an entry for each tensor and the bytes of each in `<key>.memmap`; nested ones are
folders below. A tensorclass has one level more, `_tensordict`. Values that are not tensors are folders with their data in
`meta.json`.
"""

from __future__ import annotations

import os
import pickle
import stat
from typing import Final, cast

from . import metadata_files, schema
from .dtypes import dtype_name
from .file_names import METADATA, TENSOR_SUFFIX, encoded
from .json_values import Json, encode
from .schema import Entry, Level, StaticEntry, TensorEntry
from .storage_errors import StorageError

_TYPE: Final = "<class 'tensordict._td.TensorDict'>"
_LATEST: Final = 1
"""The version of its format that is written and read here."""

_UNREADABLE: Final = 2**31
"""A version that tensordict refuses to read, for the time in which files of two saves lie side by side."""

_PICKLED: Final = "other.pickle"
_INNER: Final = "_tensordict"
_DEEPEST: Final = 100


def render(level: Level, *, readable: bool) -> dict[str, Json]:
    """The metadata of a level as tensordict reads it; while files are replaced, metadata that it refuses."""
    made: dict[str, Json] = {}
    if readable:
        for key, entry in level.entries.items():
            if isinstance(entry, TensorEntry):
                dtype = f"torch.{dtype_name(entry.dtype)}"
                made[key] = {"device": "cpu", "shape": list(entry.shape), "dtype": dtype, "is_nested": False}
            elif isinstance(entry, Level):
                made[key] = {"type": "TensorDict"}
            elif isinstance(entry, StaticEntry) and entry.folder:
                made[key] = {"type": "NonTensorData"}
    made["shape"] = list(level.batch_size)
    made["device"] = "cpu"
    made["_type"] = _TYPE
    made["_format_version"] = _LATEST if readable else _UNREADABLE
    made["_class"] = "tensordict:TensorDict"
    if level.names is not None:
        made["_names"] = list(level.names)
    return made


def render_value(entry: StaticEntry) -> dict[str, Json]:
    """The metadata of a static value, or of one for each item, as tensordict reads it, in a folder of its own."""
    if entry.stacked:
        kind = "<class 'tensordict.tensorclass.NonTensorStack'>"
        return {"_type": kind, "stack_dim": 0, "device": None, "data": entry.shown}
    kind = "<class 'tensordict.tensorclass.NonTensorData'>"
    return {"_type": kind, "data": entry.shown, "_metadata": None, "_is_non_tensor": True}


def read(folder: str, metadata: dict[str, Json], *, allow_pickle: bool) -> Level:
    """The level of a folder that tensordict wrote, a tensordict's or a tensorclass's.

    Raises:
        StorageError: it is in no layout that is known here, or holds a pickle.
    """
    return _read(folder, "", metadata, "", 0, allow_pickle=allow_pickle)


def _read(folder: str, below: str, metadata: dict[str, Json], name: str, depth: int, *, allow_pickle: bool) -> Level:
    """The level of one folder that tensordict wrote, and of those below it."""
    where = os.path.join(folder, METADATA)
    version = metadata.get("_format_version", 0)
    if (isinstance(version, int) and version > _LATEST) or depth > _DEEPEST:
        raise StorageError(f"{where}: expected format version {_LATEST} of tensordict at most, got {version}")
    if "_type" not in metadata:
        raise StorageError(f"{where}: expected metadata of qten-gen or tensordict, got the keys {list(metadata)[:8]}")
    # A tensordict can have a key of this name too, and its metadata has a shape.
    if _is_folder(os.path.join(folder, _INNER)) and "shape" not in metadata:
        return _tensorclass(folder, below, metadata, name, depth, allow_pickle=allow_pickle)
    entries: dict[str, Entry] = {}
    for key, entry in metadata.items():
        if isinstance(entry, dict) and "type" in entry:
            entries[key] = _collection(os.path.join(folder, encoded(key)), encoded(key), key, depth, allow_pickle)
        elif isinstance(entry, dict) and "dtype" in entry:
            entries[key] = _tensor(entry, key, where)
    batch_size, names = schema.shape(metadata.get("shape"), where, "shape"), metadata.get("_names")
    has_names = isinstance(names, list) and len(names) == len(batch_size)
    return Level(
        kind="class",
        name=name,
        batch_size=batch_size,
        names=tuple(cast("list[str | None]", names)) if has_names else None,
        folder=below,
        entries=entries,
    )


def _tensorclass(
    folder: str, below: str, metadata: dict[str, Json], name: str, depth: int, *, allow_pickle: bool
) -> Level:
    """A tensorclass: its values that are not tensors may stand in its own metadata, and the rest is one folder further down."""
    inner = os.path.join(folder, _INNER)
    found = metadata_files.read(inner)
    level = _read(inner, os.path.join(below, _INNER), found, name, depth + 1, allow_pickle=allow_pickle)
    given: dict[str, object] = {
        key: value for key, value in metadata.items() if key not in ("_type", "_class", "_format_version")
    }
    entries = {key: StaticEntry(encode(value, folder)) for key, value in given.items()}
    if os.path.lexists(os.path.join(folder, _PICKLED)):
        entries |= {
            key: StaticEntry(encode(value, folder, allow_pickle=True))
            for key, value in _unpickled(folder, allow_pickle).items()
        }
    return level._replace(entries={**level.entries, **entries})


def _collection(folder: str, below: str, key: str, depth: int, allow_pickle: bool) -> Entry:
    """The entry of a folder: a value, or another level."""
    if not _is_folder(folder):
        raise StorageError(f"{key}: expected a folder at {folder}, got none, a file or a link")
    metadata = metadata_files.read(folder)
    kind = str(metadata.get("_type"))
    if "NonTensor" not in kind:
        return _read(folder, below, metadata, kind, depth + 1, allow_pickle=allow_pickle)
    if "data" in metadata:
        return StaticEntry(encode(metadata["data"], folder))
    value = _unpickled(folder, allow_pickle).get("data")
    return StaticEntry(encode(value, folder, allow_pickle=True))


def _tensor(entry: dict[str, Json], key: str, where: str) -> TensorEntry:
    if entry.get("is_nested"):
        raise StorageError(f"{where}: {key}: expected a tensor with one shape, got a nested tensor")
    dtype = schema.dtype(str(entry["dtype"]).removeprefix("torch."), where, key)
    return TensorEntry(dtype, schema.shape(entry.get("shape"), where, key), encoded(key) + TENSOR_SUFFIX)


def _unpickled(folder: str, allow_pickle: bool) -> dict[str, object]:
    """The values of a pickle beside the metadata, which is read where the caller trusts it only."""
    path = os.path.join(folder, _PICKLED)
    if not allow_pickle:
        raise StorageError(
            f"{path}: tensordict saved a value as a pickle, which can run any code; pass allow_pickle=True if you trust it"
        )
    with open(path, "rb") as file:
        found: object = pickle.load(file)
    if not isinstance(found, dict):
        raise StorageError(f"{path}: expected a dict, got {type(found).__name__}")
    return found


def _is_folder(path: str) -> bool:
    """Whether there is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
