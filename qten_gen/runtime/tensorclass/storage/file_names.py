"""Names of files and folders for the keys of fields, and the check of names that come out of a file."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from typing import Final

from .storage_errors import StorageError

METADATA: Final = "meta.json"
"""The file that says what a folder holds."""

LOCK: Final = METADATA + ".~lock"
"""The file that is locked by who saves to a folder, where the system cannot lock the folder itself. It is empty, and stays."""

TENSOR_SUFFIX: Final = ".memmap"

PENDING: Final = ".~"
"""Between the name of a file and the token of the save that wrote it, until the file takes its place."""

_LONGEST = 200
"""Bytes of a name; file systems take 255, and a suffix follows."""

_ESCAPED = {character: f"%{ord(character):02X}" for character in '/<>:"|?*\\ %\x7f' + "".join(map(chr, range(32)))}
"""Percent-encoded as tensordict does, so that either finds the files of the other."""

_UNSAFE = re.compile(r'[/\\:"<>|?*\x00-\x1f\ud800-\udfff]')

_TABLE = str.maketrans(_ESCAPED)

_HAS_DEVICES = os.name == "nt"
"""Only there: elsewhere tensordict looks for such a name."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)")
"""Names that Windows has for devices, whatever follows the dot."""


def encoded(key: str) -> str:
    """The name of a key as a part of a path.

    >>> encoded("tokens"), encoded("a/b"), encoded(".."), encoded("")
    ('tokens', 'a%2Fb', '%2E%2E', '%')
    """
    if key in (".", ".."):
        return "%2E" * len(key)
    return key.translate(_TABLE) or "%"


class FileNames:
    """Gives the names within one folder, so that no two are the same where case or the form of accents does not count."""

    def __init__(self) -> None:
        self._taken = {METADATA, LOCK}

    def give(self, key: str, suffix: str = "") -> str:
        """The name for a key. One that is too long, taken but for its case, or that of a device, ends in a digest of the key."""
        name = encoded(key) + suffix
        folded = _folded(name)
        is_device = _HAS_DEVICES and _RESERVED.match(folded) is not None
        if len(name.encode()) > _LONGEST or folded in self._taken or is_device:
            digest = hashlib.sha256(key.encode()).hexdigest()[:16]
            shown = encoded(key)[:32]
            name = f"{shown.replace('.', '_') if is_device else shown}~{digest}{suffix}"
            folded = _folded(name)
        self._taken.add(folded)
        return name


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", name).casefold()


def checked(name: object, path: str, key: str) -> str:
    """A name of a file or folder as the metadata at `path` gives it for a key; it has to be one part of a path.

    Raises:
        StorageError: it could lead out of the folder.
    """
    if not isinstance(name, str) or name in ("", ".", "..") or _UNSAFE.search(name):
        raise StorageError(f"{path}: {key}: expected the name of a file in this folder, got {name!r}")
    return name
