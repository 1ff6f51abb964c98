"""The metadata of a saved object: a tree of levels, one for each object, dict or list, with the tensors in it.

It stands in our section of `meta.json`, and is read strictly: whatever this package would not have written is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import unicodedata
from typing import Final, Literal, NamedTuple, TypeAlias, cast

import torch

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

SCHEMA: Final = "qten-gen/memory-map"
"""Names the meaning of the metadata, whatever package or class it comes from."""

VERSION: Final = 1
"""Raised when older readers could no longer read what is written."""

SECTION: Final = "_qten"
"""Our part of `meta.json`; the rest of it is for tensordict."""

PART: Final[Json] = {"schema": SCHEMA, "version": VERSION, "part": True}
"""The section of a folder whose object is being replaced together with the larger one that it is a part of."""

METADATA: Final = "meta.json"
LOCK: Final = METADATA + ".~lock"
"""The file that is locked by who saves to a folder, where the system cannot lock the folder itself. It is empty, and stays."""

TENSOR_SUFFIX: Final = ".memmap"

_DTYPE_NAMES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128 "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()

DTYPES: Final[dict[str, torch.dtype]] = {name: getattr(torch, name) for name in _DTYPE_NAMES if hasattr(torch, name)}
"""Dtypes whose elements are plain bytes, by name."""

PLAIN: Final = frozenset(DTYPES.values())

_parse = json.JSONDecoder().decode
_render = json.JSONEncoder(separators=(",", ":")).encode

_LARGEST_FILE = 2**28
_MOST_ELEMENTS = 2**62
DEEPEST: Final = 100
"""Levels that lie in each other at most."""


class StorageError(ValueError):
    """A saved object cannot be read: it is damaged, was changed by others, or does not fit the class. Names the path."""


class TensorEntry(NamedTuple):
    """A tensor: the bytes of its elements in `file`, in row-major order. Without elements there is no file."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    file: str
    pending: str = ""
    """The name of the file in the folder of the whole object, until the save is finished."""

    @property
    def size(self) -> int:
        """Bytes that the file has to have."""
        return math.prod(self.shape) * self.dtype.itemsize


class StaticEntry(NamedTuple):
    """A static value as `json_values` encodes it.

    The metadata for tensordict is in `folder`, unless JSON has no word for the value; `shown` is what is written there.
    """

    value: Json
    shown: dict[str, Json] | None = None
    folder: str = ""


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
        value: object = _parse(text.decode())
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{where}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise StorageError(f"{where}: expected a JSON object, got {type(value).__name__}")
    return value


class Place(NamedTuple):
    """Where the metadata stands that says what a folder holds.

    Attributes:
        folder: The folder of the whole object.
        text: Its metadata.
        below: The names of the folders that lead from there to the one that was asked about.
    """

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


def level_at(level: Level, names: tuple[str, ...]) -> Level | None:
    """The level in a folder below that of an object."""
    for name in names:
        inside = [entry for entry in level.entries.values() if isinstance(entry, Level) and entry.folder == name]
        if not inside:
            return None
        level = inside[0]
    return level


def rendered(value: dict[str, Json]) -> bytes:
    """Metadata as its file has it."""
    return _render(value).encode()


def to_json(metadata: Metadata) -> dict[str, Json]:
    """Our section of `meta.json`."""
    made: dict[str, Json] = {"schema": SCHEMA, "version": VERSION, "token": metadata.token}
    if metadata.replaced is not None:
        made["replaced"] = list(metadata.replaced)
    return {**made, "root": _level_to_json(metadata.level, metadata.replaced is not None)}


def _level_to_json(level: Level, pending: bool) -> dict[str, Json]:
    made: dict[str, Json] = {"kind": level.kind, "class": level.name, "batch_size": list(level.batch_size)}
    if level.names is not None:
        made["names"] = list(level.names)
    if level.folder:
        made["folder"] = level.folder
    made["entries"] = {key: _entry_to_json(entry, pending) for key, entry in level.entries.items()}
    return made


def _entry_to_json(entry: Entry, pending: bool) -> Json:
    if entry is None:
        return None
    if isinstance(entry, StaticEntry):
        return {"value": entry.value, "folder": entry.folder} if entry.folder else {"value": entry.value}
    if isinstance(entry, Level):
        return {"level": _level_to_json(entry, pending)}
    made: dict[str, Json] = {"dtype": dtype_name(entry.dtype), "shape": list(entry.shape), "file": entry.file}
    return {**made, "pending": entry.pending} if pending else made


def from_json(section: Json, where: str) -> Metadata:
    """The metadata of a section of `meta.json`; `where` is its path, for errors.

    Raises:
        StorageError: the section is not one that this package writes, or one of a later version.
    """
    found = _mapping(section, where, SECTION)
    if found == PART:
        raise StorageError(f"{where}: a save of the larger object ended early; load that one, or save it again")
    if found.get("schema") != SCHEMA:
        raise StorageError(f"{where}: expected schema {SCHEMA!r}, got {found.get('schema')!r}")
    # True equals 1.
    if found.get("version") != VERSION or isinstance(found["version"], bool):
        got = f"{found.get('version')!r}; a later release of qten-gen may read it"
        raise StorageError(f"{where}: expected format version {VERSION}, got {got}")
    token, replaced = found.get("token"), found.get("replaced")
    if not isinstance(token, str) or not token.isalnum():
        raise StorageError(f"{where}: expected the token of a save, got {token!r}")
    paths = None
    if replaced is not None:
        paths = tuple(map(str, replaced)) if isinstance(replaced, list) else ("",)
        for part in "/".join(paths).split("/") if paths else ():
            checked(part, where, "replaced")
    return Metadata(_level(found.get("root"), where, "root", 0), token, paths)


def _level(value: Json | None, path: str, key: str, depth: int) -> Level:
    """A level from JSON, every part checked."""
    found = _mapping(value, path, key)
    kind, names = found.get("kind"), found.get("names")
    if kind not in ("class", "dict", "list") or depth > DEEPEST:
        raise StorageError(f"{path}: {key}: expected the kind of a level, got {kind!r}")
    batch_size = shape(found.get("batch_size"), path, "batch_size")
    given = names if isinstance(names, list) else [0]
    if names is not None and (len(given) != len(batch_size) or not all(isinstance(name, str | None) for name in given)):
        needed = f"a name or null for each of {len(batch_size)} dimensions"
        raise StorageError(f"{path}: expected {needed}, got {str(names)[:80]}")
    named = None if names is None else tuple(cast("list[str | None]", given))
    folder = checked(found.get("folder"), path, key) if depth else ""
    entries = _mapping(found.get("entries"), path, key)
    read = {key: _entry(entry, path, key, depth) for key, entry in entries.items()}
    return Level(
        cast("Literal['class', 'dict', 'list']", kind), str(found.get("class")), batch_size, named, folder, read
    )


def _entry(value: Json, path: str, key: str, depth: int) -> Entry:
    if value is None:
        return None
    found = _mapping(value, path, key)
    if "file" in found:
        size = shape(found.get("shape"), path, key)
        pending = checked(found["pending"], path, key) if "pending" in found else ""
        return TensorEntry(dtype(found.get("dtype"), path, key), size, checked(found["file"], path, key), pending)
    if "value" in found:
        return StaticEntry(found["value"], None, checked(found["folder"], path, key) if "folder" in found else "")
    return _level(found.get("level"), path, key, depth + 1)


def _mapping(value: Json | None, path: str, key: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise StorageError(f"{path}: {key}: expected an object, got {str(value)[:80]}")
    return value


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def dtype(value: Json | None, path: str, key: str) -> torch.dtype:
    """A dtype by its name, as metadata gives it."""
    found = DTYPES.get(value) if isinstance(value, str) else None
    if found is None:
        raise StorageError(f"{path}: {key}: expected a dtype, got {value!r}")
    return found


def shape(value: Json | None, path: str, key: str) -> tuple[int, ...]:
    """A shape, as metadata gives it."""
    elements = 1
    for size in value if isinstance(value, list) and len(value) <= 64 else (None,):
        if type(size) is not int or size < 0:
            raise StorageError(f"{path}: {key}: expected a shape, got {str(value)[:80]}")
        # A 0 must not hide how large the other sizes are.
        elements *= size or 1
    if elements > _MOST_ELEMENTS:
        raise StorageError(
            f"{path}: {key}: expected a shape of at most {_MOST_ELEMENTS} elements, got {str(value)[:80]}"
        )
    return tuple(cast("list[int]", value))


_LONGEST = 200
"""Bytes of a name; file systems take 255, and a suffix follows."""

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


class FileNames:
    """Gives the names within one folder, so that no two are the same where case or the form of accents does not count."""

    def __init__(self) -> None:
        self._taken = {METADATA, LOCK}

    def give(self, key: str, suffix: str = "") -> str:
        """The name for a key. One that is too long, taken but for its case, or hidden, ends in a digest of the key."""
        name = encoded(key) + suffix
        # Names that begin with `.~` are those of files until a save is finished.
        unfit = len(name.encode()) > _LONGEST or name.startswith(".~")
        if unfit or _folded(name) in self._taken:
            name = f"{encoded(key)[:32].lstrip('.')}~{hashlib.sha256(key.encode()).hexdigest()[:16]}{suffix}"
        self._taken.add(_folded(name))
        return name


def _folded(name: str) -> str:
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def checked(name: object, path: str, key: str) -> str:
    """A name of a file or folder as the metadata at `path` gives it for a key; it has to be one part of a path.

    Raises:
        StorageError: it could lead out of the folder.
    """
    if not isinstance(name, str) or name in ("", ".", "..") or _UNSAFE.search(name):
        raise StorageError(f"{path}: {key}: expected the name of a file in this folder, got {name!r}")
    return name
