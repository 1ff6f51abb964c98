"""The file that says what a folder holds, `meta.json`: read strictly, and replaced so that there is one at any moment."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from . import files
from .file_names import METADATA
from .storage_errors import StorageError

if TYPE_CHECKING:
    from .json_values import Json

_LARGEST = 2**28

_parse = json.JSONDecoder().decode
_render = json.JSONEncoder(separators=(",", ":")).encode


def metadata_in(folder: str) -> str:
    """The path of the metadata of a folder."""
    return f"{folder}{os.sep}{METADATA}"


def is_in(folder: str) -> bool:
    """Whether a folder holds an object."""
    return os.path.lexists(metadata_in(folder))


def read(folder: str) -> dict[str, Json]:
    """The metadata of a folder.

    Raises:
        FileNotFoundError: there is none.
        StorageError: it cannot be read, or is not a JSON object.
    """
    return parsed(text_in(folder), folder)


def text_in(folder: str) -> bytes:
    """The text of the metadata of a folder.

    Raises:
        FileNotFoundError: there is none.
        StorageError: it is a link, may not be read, or is too large to be one of ours.
    """
    path = metadata_in(folder)
    try:
        descriptor = os.open(path, os.O_RDONLY | files.AS_IT_IS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageError(f"{path}: expected a file of metadata: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            raise StorageError(f"{path}: expected a file of metadata, got {found.st_size} bytes or no ordinary file")
        return os.read(descriptor, found.st_size)
    finally:
        os.close(descriptor)


def parsed(text: bytes, folder: str) -> dict[str, Json]:
    """The metadata that a text of the folder has.

    Raises:
        StorageError: it is not a JSON object.
    """
    path = metadata_in(folder)
    try:
        value: object = _parse(text.decode())
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise StorageError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def text_of(value: dict[str, Json]) -> bytes:
    """Metadata as its file has it."""
    return _render(value).encode()


def write(folder: str, text: bytes, token: str, durable: bool) -> None:
    """Give a folder other metadata in one step: whoever opens it finds the old text or the new one."""
    path = metadata_in(folder)
    temporary = f"{path}.~{token}"
    files.write_new(temporary, [text], durable)
    files.put_in_place(temporary, path)
    if durable:
        files.sync_folder(folder)
