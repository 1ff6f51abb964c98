"""The file that says what a folder holds: read strictly, and replaced so that there is one at any moment.

It is called `meta.json`. While a save replaces it, and after one that was killed then, there may be none of that name, and the
one that was put aside counts: `meta.json.~old`.

It is put aside because what is written in its place first does not stay for long. Some file systems, ext4 among them, start to
write a file to the disk when it is given the name of another, so that a loss of power leaves one of the two; and who removes it
then waits for the disk. A file that is given a free name they leave alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING

from . import files
from .errors import StorageError
from .file_names import ASIDE, METADATA

if TYPE_CHECKING:
    from .json_values import Json

_LARGEST = 2**28

_parse = json.JSONDecoder().decode
_render = json.JSONEncoder(separators=(",", ":")).encode

Version = tuple[int, int]
"""Device and inode, which tell a file from one that replaced it as long as the old one is open."""


def metadata_in(folder: str) -> str:
    """The path of the metadata of a folder."""
    return f"{folder}{os.sep}{METADATA}"


def aside_in(folder: str) -> str:
    """The path of the metadata that counts where there is none at `metadata_in`."""
    return f"{folder}{os.sep}{ASIDE}"


def open_current(folder: str) -> int:
    """The metadata of a folder, open to be read.

    Raises:
        FileNotFoundError: there is none.
        OSError: it is a link, or may not be read.
    """
    path = metadata_in(folder)
    try:
        return os.open(path, os.O_RDONLY | files.AS_IT_IS)
    except FileNotFoundError:
        pass
    with contextlib.suppress(FileNotFoundError):
        return os.open(aside_in(folder), os.O_RDONLY | files.AS_IT_IS)
    return os.open(path, os.O_RDONLY | files.AS_IT_IS)  # put there since, or there is none


def version_of(folder: str) -> Version:
    """Which metadata a folder has now."""
    path = metadata_in(folder)
    try:
        return _version(os.stat(path))
    except FileNotFoundError:
        pass
    with contextlib.suppress(FileNotFoundError):
        return _version(os.stat(aside_in(folder)))
    return _version(os.stat(path))


def _version(found: os.stat_result) -> Version:
    return found.st_dev, found.st_ino


def read(folder: str) -> dict[str, Json]:
    """The metadata of a folder.

    Raises:
        FileNotFoundError: there is none.
        StorageError: it is not a JSON object, or too large to be one of ours.
    """
    descriptor = open_current(folder)
    try:
        return read_open(descriptor, folder)[0]
    finally:
        os.close(descriptor)


def read_open(descriptor: int, folder: str) -> tuple[dict[str, Json], Version]:
    """The same of an open file, and which version it is."""
    path = metadata_in(folder)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
        raise StorageError(f"{path}: expected a file of metadata, got {found.st_size} bytes or no ordinary file")
    try:
        value: object = _parse(os.read(descriptor, found.st_size).decode())
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise StorageError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value, _version(found)


def text_of(value: dict[str, Json]) -> bytes:
    """Metadata as its file has it."""
    return _render(value).encode()


def holds(folder: str, text: bytes) -> bool:
    """Whether a folder has metadata, and no link to it, with just this text."""
    try:
        descriptor = os.open(metadata_in(folder), os.O_RDONLY | files.AS_IT_IS)
    except OSError:
        return False
    try:
        return os.read(descriptor, len(text) + 1) == text
    except OSError:
        return False
    finally:
        os.close(descriptor)


def write(folder: str, text: bytes, token: str, durable: bool) -> None:
    """Give a folder other metadata in one step: whoever opens it finds the old text or the new one."""
    path = metadata_in(folder)
    temporary = f"{path}.~{token}"
    rest = memoryview(text)
    descriptor = files.new_file(temporary)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    files.put_in_place(temporary, path)
    if durable:
        files.sync_folder(folder)


def write_for_now(folder: str, text: bytes, token: str, durable: bool) -> None:
    """`write`, of metadata that is to be replaced soon. What was there is put aside, and is to be removed after that."""
    path, aside = metadata_in(folder), aside_in(folder)
    with contextlib.suppress(FileNotFoundError):
        files.put_in_place(path, aside)
    try:
        write(folder, text, token, durable)
    except BaseException:
        if not os.path.lexists(path):
            with contextlib.suppress(FileNotFoundError):
                files.put_in_place(aside, path)
        raise
