"""Folders in tensordict's layout: what our metadata says for it, and the reading of folders that it wrote.

A tensordict's folder has a `meta.json` with an entry for each tensor and the bytes of each in `<key>.memmap`; nested ones are
folders below. A tensorclass has one level more, `_tensordict`. Values that are not tensors are folders with their data in
`meta.json`.
"""

from __future__ import annotations

import os
import pathlib
import pickle
from enum import Enum
from typing import Final, cast

import torch

from ..fields.per_item import PerItem
from . import metadata as schema
from .json_values import encode
from .metadata import DEEPEST, TENSOR_SUFFIX, Entry, Json, Level, StaticEntry, StorageError, TensorEntry

_TYPE: Final = "<class 'tensordict._td.TensorDict'>"
_LATEST: Final = 1
"""The version of its format that is written and read here."""

UNREADABLE: Final[dict[str, Json]] = {"_type": _TYPE, "_format_version": 2**31}
"""Metadata that tensordict refuses to read, for the time in which files of two saves lie side by side."""

_PICKLED: Final = "other.pickle"
_INNER: Final = "_tensordict"


def render(level: Level) -> dict[str, Json]:
    """The metadata of a level as tensordict reads it."""
    made: dict[str, Json] = {}
    for key, entry in level.entries.items():
        if isinstance(entry, TensorEntry):
            dtype = f"torch.{schema.dtype_name(entry.dtype)}"
            made[key] = {"device": "cpu", "shape": list(entry.shape), "dtype": dtype, "is_nested": False}
        elif isinstance(entry, Level):
            made[key] = {"type": "TensorDict"}
        elif isinstance(entry, StaticEntry) and entry.shown is not None:
            made[key] = {"type": "NonTensorData"}
    made |= {"shape": list(level.batch_size), "device": "cpu", "_type": _TYPE, "_format_version": _LATEST}
    made["_class"] = "tensordict:TensorDict"
    if level.names is not None:
        made["_names"] = list(level.names)
    return made


def render_value(value: object) -> dict[str, Json] | None:
    """The metadata of a static value, or of one for each item, in a folder of its own; None where JSON has no word for it."""
    items = isinstance(value, PerItem) and value.batch_size
    try:
        # Items that are lists would be taken for items along one more dimension.
        if items and any(isinstance(item, (list, tuple)) for item in value.values()):  # type: ignore[attr-defined] # as above
            return None
        data = _plain(value.tolist() if isinstance(value, PerItem) else value)
    except TypeError:
        return None
    if items and items.numel():
        kind = "<class 'tensordict.tensorclass.NonTensorStack'>"
        return {"_type": kind, "stack_dim": 0, "device": None, "data": data}
    kind = "<class 'tensordict.tensorclass.NonTensorData'>"
    return {"_type": kind, "data": data, "_metadata": None, "_is_non_tensor": True}


def _plain(value: object) -> Json:
    """A value for readers that know JSON only: tuples as lists, paths and dtypes as text, members of enums by name."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (pathlib.PurePath, torch.dtype, torch.device)):
        return str(value)
    raise TypeError(type(value))


def read(folder: str, metadata: dict[str, Json], *, allow_pickle: bool) -> Level:
    """The level of a folder that tensordict wrote, a tensordict's or a tensorclass's.

    Raises:
        StorageError: it is in no layout that is known here, or holds a pickle.
    """
    return _Reader(allow_pickle).level(folder, "", metadata, "", 0)


class _Reader:
    """Reads the levels of a folder that tensordict wrote."""

    def __init__(self, allow_pickle: bool) -> None:
        self.allow_pickle = allow_pickle

    def level(self, folder: str, below: str, metadata: dict[str, Json], name: str, depth: int) -> Level:
        """The level of one folder and of those below it; `below` is its path in its owner's."""
        where = schema.metadata_in(folder)
        version = metadata.get("_format_version", 0)
        if (isinstance(version, int) and version > _LATEST) or depth > DEEPEST:
            raise StorageError(f"{where}: expected format version {_LATEST} of tensordict at most, got {version}")
        if "_type" not in metadata:
            raise StorageError(
                f"{where}: expected metadata of qten-gen or tensordict, got the keys {list(metadata)[:8]}"
            )
        inner = os.path.join(folder, _INNER)
        # A tensordict can have a key of this name too, and its metadata has a shape.
        if _is_folder(inner) and "shape" not in metadata:
            level = self.level(inner, os.path.join(below, _INNER), self._metadata(inner), name, depth + 1)
            return level._replace(entries={**level.entries, **self._own_values(folder, metadata)})
        entries: dict[str, Entry] = {}
        for key, entry in metadata.items():
            if isinstance(entry, dict) and "type" in entry:
                entries[key] = self._collection(os.path.join(folder, schema.encoded(key)), key, depth)
            elif isinstance(entry, dict) and "dtype" in entry:
                if entry.get("is_nested"):
                    raise StorageError(f"{where}: {key}: expected a tensor with one shape, got a nested tensor")
                dtype = schema.dtype(str(entry["dtype"]).removeprefix("torch."), where, key)
                size = schema.shape(entry.get("shape"), where, key)
                entries[key] = TensorEntry(dtype, size, schema.encoded(key) + TENSOR_SUFFIX)
        batch_size, names = schema.shape(metadata.get("shape"), where, "shape"), metadata.get("_names")
        has_names = isinstance(names, list) and len(names) == len(batch_size)
        found = tuple(cast("list[str | None]", names)) if has_names else None
        return Level("class", name, batch_size, found, below, entries)

    def _metadata(self, folder: str) -> dict[str, Json]:
        return schema.parsed(schema.text_in(folder), schema.metadata_in(folder))

    def _own_values(self, folder: str, metadata: dict[str, Json]) -> dict[str, Entry]:
        """The values that stand in the metadata of a tensorclass itself, or in a pickle beside it."""
        given: dict[str, object] = {**metadata}
        if os.path.lexists(os.path.join(folder, _PICKLED)):
            given |= self._unpickled(folder)
        ours = ("_type", "_class", "_format_version")
        return {
            key: StaticEntry(encode(value, folder, allow_pickle=self.allow_pickle))
            for key, value in given.items()
            if key not in ours
        }

    def _collection(self, folder: str, key: str, depth: int) -> Entry:
        """The entry of a folder: a value, or another level."""
        if not _is_folder(folder):
            raise StorageError(f"{key}: expected a folder at {folder}, got none, a file or a link")
        metadata = self._metadata(folder)
        kind = str(metadata.get("_type"))
        if "NonTensor" not in kind:
            return self.level(folder, schema.encoded(key), metadata, kind, depth + 1)
        if "data" in metadata:
            return StaticEntry(encode(metadata["data"], folder))
        return StaticEntry(encode(self._unpickled(folder).get("data"), folder, allow_pickle=True))

    def _unpickled(self, folder: str) -> dict[str, object]:
        """The values of a pickle beside the metadata, which is read where the caller trusts it only."""
        path = os.path.join(folder, _PICKLED)
        if not self.allow_pickle:
            trust = "which can run any code; pass allow_pickle=True if you trust it"
            raise StorageError(f"{path}: tensordict saved a value as a pickle, {trust}")
        try:
            with open(path, "rb") as file:
                found: object = pickle.load(file)
        except Exception as error:  # a pickle can raise any
            raise StorageError(f"{path}: expected a pickle: {error}") from None
        if not isinstance(found, dict):
            raise StorageError(f"{path}: expected a dict, got {type(found).__name__}")
        return found


def _is_folder(path: str) -> bool:
    """True if there is a folder, and no link to one."""
    return os.path.isdir(path) and not os.path.islink(path)
