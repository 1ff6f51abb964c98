"""The metadata of a saved object: a tree of levels, one for each object, dict or list, with the tensors in it.

It stands in our section of `meta.json`, and is read strictly: whatever this package would not have written is refused. The rest
of the file is in tensordict's layout, an entry for each tensor and nested object, so that tensordict reads the tensors.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias, cast

import torch

from ..torch_tools.packing import DTYPES, dtype_name

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

VERSION: Final = 2
"""Raised when older readers could no longer read what is written."""

SECTION: Final = "_qten"
"""Our part of `meta.json`; the rest of it is for tensordict."""

METADATA: Final = "meta.json"
LOCK: Final = METADATA + ".~lock"
"""The file that is locked by who saves to a folder, where the system cannot lock the folder itself. It is empty, and stays."""

TENSOR_SUFFIX: Final = ".memmap"

_THEIR_TYPE: Final = "<class 'tensordict._td.TensorDict'>"
_THEIR_VERSION: Final = 1

_render = json.JSONEncoder(separators=(",", ":")).encode

_LARGEST_FILE = 2**28
_MOST_ELEMENTS = 2**58  # their bytes are counted in 63 bits
DEEPEST: Final = 100
"""Levels that lie in each other at most."""


class StorageError(ValueError):
    """A saved object cannot be read: it is damaged, was changed by others, or does not fit the class. Names the path."""


class TensorEntry(NamedTuple):
    """A tensor: the bytes of its elements in a file, in row-major order. Without elements there is no file.

    `pending` is the name of the file in the folder of the whole object until the save is finished.
    """

    dtype: torch.dtype
    shape: tuple[int, ...]
    pending: str = ""

    @property
    def size(self) -> int:
        """Bytes that the file has to have."""
        return math.prod(self.shape) * self.dtype.itemsize


class StaticEntry(NamedTuple):
    """A static value as `json_values` encodes it."""

    value: Json


class Level(NamedTuple):
    """An object, or a dict or list of tensors."""

    kind: Literal["class", "dict", "list"]
    batch_size: tuple[int, ...]
    names: tuple[str | None, ...] | None
    entries: dict[str, Entry]


Entry: TypeAlias = TensorEntry | StaticEntry | Level | None
"""The entry of a key. None is a field without a value."""


class Metadata(NamedTuple):
    """The metadata of a folder. `token` is another one after every save.

    `replaced` is None once a save is finished. Until then it has the files of the older object, to be removed, by their
    paths in the folder; and a tensor that is not in its file yet is in its pending one.
    """

    level: Level
    token: str
    replaced: tuple[str, ...] | None = None


def metadata_in(folder: str) -> str:
    """The path of the metadata of a folder."""
    return f"{folder}{os.sep}{METADATA}"


def text_in(folder: str) -> bytes:
    """The text of the metadata of a folder.

    Raises:
        FileNotFoundError: there is none.
        StorageError: it is a link, may not be read, or is too large to be one of ours.
    """
    path = metadata_in(folder)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"there is no {path}") from None
    except OSError as error:
        raise StorageError(f"{path}: expected a file of metadata: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_FILE:
            raise StorageError(f"{path}: expected a file of metadata, got {found.st_size} bytes or no ordinary file")
        return os.read(descriptor, found.st_size)
    finally:
        os.close(descriptor)


def parsed(text: bytes, where: str) -> dict[str, Json]:
    """A JSON object.

    Raises:
        StorageError: the text is something else.
    """
    try:
        value: object = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{where}: expected JSON: {error}") from None
    return _mapping(cast(Json, value), where, "metadata")


class Place(NamedTuple):
    """The metadata that says what a folder holds: the folder of the whole object, its text, and the names that lead below."""

    folder: str
    text: bytes
    below: tuple[str, ...]


def owner_of(folder: str) -> Place | None:
    """The larger object that a folder is a part of, or was a part of until a save that is not finished replaced it."""
    found = None
    names: tuple[str, ...] = ()
    at = folder
    for _ in range(DEEPEST):
        at, name = os.path.split(at)
        if not name:
            break
        names = (name, *names)
        # Nearly always there is none, which is seen without an exception.
        if not os.path.lexists(metadata_in(at)):
            continue
        # A folder in between may have no metadata of ours yet, or not any more.
        try:
            text = text_in(at)
            metadata = from_json(parsed(text, at).get(SECTION), at)
        except (OSError, StorageError):
            continue
        was = any(path.startswith("/".join(names) + "/") for path in metadata.replaced or ())
        if was or level_at(metadata.level, names) is not None:
            found = Place(at, text, names)
    return found


def walk(level: Level, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Every entry with the keys that lead to it, a level before what is in it."""
    yield above, level
    for key, entry in level.entries.items():
        if isinstance(entry, Level):
            yield from walk(entry, (*above, key))
        else:
            yield (*above, key), entry


def level_at(level: Level, names: tuple[str, ...]) -> Level | None:
    """The level in a folder below the one of an object."""
    found = (entry for keys, entry in walk(level) if tuple(map(encoded, keys)) == names)
    return next((entry for entry in found if isinstance(entry, Level)), None)


def files_of(level: Level) -> set[str]:
    """The files of an object, metadata and tensors, by their paths in its folder, with slashes."""
    found = set()
    for keys, entry in walk(level):
        names = [*map(encoded, keys)]
        if isinstance(entry, Level):
            found.add("/".join([*names, METADATA]))
        elif isinstance(entry, TensorEntry) and entry.size:
            found.add("/".join(names) + TENSOR_SUFFIX)
    return found


def to_json(metadata: Metadata) -> dict[str, Json]:
    """Our section of `meta.json`."""
    made: dict[str, Json] = {"version": VERSION, "token": metadata.token}
    if metadata.replaced is not None:
        made["replaced"] = list(metadata.replaced)
    return {**made, "root": _entry_to_json(metadata.level, metadata.replaced is not None)}


def _entry_to_json(entry: Entry, pending: bool) -> Json:
    if isinstance(entry, TensorEntry):
        found: dict[str, Json] = {"dtype": dtype_name(entry.dtype), "shape": list(entry.shape)}
        return {**found, "pending": entry.pending} if pending else found
    if isinstance(entry, Level):
        names: Json = None if entry.names is None else list(entry.names)
        entries = {key: _entry_to_json(inside, pending) for key, inside in entry.entries.items()}
        return {"kind": entry.kind, "batch_size": list(entry.batch_size), "names": names, "entries": entries}
    return None if entry is None else {"value": entry.value}


def rendered(metadata: Metadata) -> bytes:
    """A file of metadata: a level as tensordict reads it, and our section, which stands for itself: the folder can be copied."""
    level = metadata.level
    # A version that high is refused, while files of two objects lie side by side.
    made: dict[str, Json] = {"_type": _THEIR_TYPE, "_format_version": 2**31}
    if metadata.replaced is None:
        for key, entry in level.entries.items():
            if isinstance(entry, TensorEntry):
                dtype = f"torch.{dtype_name(entry.dtype)}"
                made[key] = {"device": "cpu", "shape": list(entry.shape), "dtype": dtype, "is_nested": False}
            elif isinstance(entry, Level):
                made[key] = {"type": "TensorDict"}
        made |= {"shape": list(level.batch_size), "device": "cpu", "_type": _THEIR_TYPE}
        made |= {"_format_version": _THEIR_VERSION, "_class": "tensordict:TensorDict"}
        if level.names is not None:
            made["_names"] = list(level.names)
    return _render({**made, SECTION: to_json(metadata)}).encode()


def from_json(section: Json, where: str) -> Metadata:
    """The metadata of a section of `meta.json`; `where` is its path, for errors.

    Raises:
        StorageError: the section is not one that this package writes, or one of a later version.
    """
    found = _mapping(section, where, SECTION)
    # True equals 1.
    if found.get("version") != VERSION or isinstance(found["version"], bool):
        got = f"{found.get('version')!r}; another release of qten-gen may read it"
        raise StorageError(f"{where}: expected format version {VERSION}, got {got}")
    token, replaced = found.get("token"), found.get("replaced")
    if not isinstance(token, str) or not token.isalnum():
        raise StorageError(f"{where}: expected the token of a save, got {token!r}")
    paths = None
    if replaced is not None:
        paths = tuple(map(str, replaced)) if isinstance(replaced, list) else ("",)
        for path in paths:
            *_, name = [checked(part, where, "replaced") for part in path.split("/")]
            if name != METADATA and not name.endswith(TENSOR_SUFFIX):
                raise StorageError(f"{where}: replaced: expected files that a save writes, got {path!r}")
    return Metadata(level_from(found.get("root"), where), token, paths)


def level_from(value: Json | None, path: str, key: str = "root", depth: int = 0) -> Level:
    """A level from JSON, every part checked."""
    found = _mapping(value, path, key)
    kind, names = found.get("kind"), found.get("names")
    if kind not in ("class", "dict", "list") or depth > DEEPEST:
        raise StorageError(f"{path}: {key}: expected the kind of a level, got {kind!r}")
    batch_size = _shape(found.get("batch_size"), path, "batch_size")
    given = names if isinstance(names, list) else [0]
    if names is not None and (len(given) != len(batch_size) or not all(isinstance(name, str | None) for name in given)):
        needed = f"a name or null for each of {len(batch_size)} dimensions"
        raise StorageError(f"{path}: expected {needed}, got {str(names)[:80]}")
    entries: dict[str, Entry] = {}
    for name, entry in _mapping(found.get("entries"), path, key).items():
        checked(encoded(name), path, name)
        if entry is None:
            entries[name] = None
            continue
        inside = _mapping(entry, path, name)
        if "dtype" in inside:
            given_dtype, pending = inside["dtype"], inside.get("pending")
            dtype = DTYPES.get(given_dtype) if isinstance(given_dtype, str) else None
            if dtype is None:
                raise StorageError(f"{path}: {name}: expected a dtype, got {given_dtype!r}")
            shape = _shape(inside.get("shape"), path, name)
            entries[name] = TensorEntry(dtype, shape, "" if pending is None else checked(pending, path, name))
        elif "value" in inside:
            entries[name] = StaticEntry(inside["value"])
        else:
            entries[name] = level_from(inside, path, name, depth + 1)
    named = None if names is None else tuple(cast("list[str | None]", given))
    return Level(cast("Literal['class', 'dict', 'list']", kind), batch_size, named, entries)


def _mapping(value: Json | None, path: str, key: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise StorageError(f"{path}: {key}: expected a JSON object, got {str(value)[:80]}")
    return value


def _shape(value: Json | None, path: str, key: str) -> tuple[int, ...]:
    """A shape, as metadata gives it."""
    sizes = value if isinstance(value, list) and len(value) <= 64 else [None]
    whole = all(type(size) is int and size >= 0 for size in sizes)
    # A 0 must not hide how large the other sizes are.
    if not whole or math.prod(size or 1 for size in cast("list[int]", sizes)) > _MOST_ELEMENTS:
        needed = f"a shape of at most {_MOST_ELEMENTS} elements"
        raise StorageError(f"{path}: {key}: expected {needed}, got {str(value)[:80]}")
    return tuple(cast("list[int]", sizes))


_ESCAPED = str.maketrans({each: f"%{ord(each):02X}" for each in '/<>:"|?*\\ %\x7f' + "".join(map(chr, range(32)))})
"""Percent-encoded as tensordict does, so that either finds the files of the other."""

_UNSAFE = re.compile(r'[/\\:"<>|?*\x00-\x1f\ud800-\udfff]')


def encoded(key: str) -> str:
    """The name of a key as a part of a path.

    >>> encoded("tokens"), encoded("a/b"), encoded(".."), encoded("")
    ('tokens', 'a%2Fb', '%2E%2E', '%')
    """
    if key in (".", ".."):
        return "%2E" * len(key)
    return key.translate(_ESCAPED) or "%"


def file_of_key(key: str) -> str:
    """The name of the file of a tensor."""
    return encoded(key) + TENSOR_SUFFIX


def checked(name: object, path: str, key: str) -> str:
    """A name of a file or folder as the metadata at `path` gives it for a key; it has to be one part of a path.

    Raises:
        StorageError: it could lead out of the folder.
    """
    if not isinstance(name, str) or name in ("", ".", "..") or _UNSAFE.search(name):
        raise StorageError(f"{path}: {key}: expected the name of a file in this folder, got {name!r}")
    return name
