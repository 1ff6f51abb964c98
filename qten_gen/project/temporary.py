"""Names and recognises the temporary files that a run writes, before it renames them to outputs.

A run that is killed leaves one. A run a minute later removes it, if its name and its content say that it is one of ours.
"""

import os
import re
import time

from ..common.header import begins_like_ours
from .paths import read_regular

_NAME = r"\.qten-gen-[0-9a-f]{12}-\d{1,10}\.tmp"
_SUFFIX = ".tmp"
_LONGEST_WRITE = 60
"""The seconds within which an output is written and renamed."""


def temporary_name(name: str) -> str:
    """The name of the temporary file for an output. It is short, so that a long name stays possible."""
    from hashlib import sha256

    digest = sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f".qten-gen-{digest}-{os.getpid()}{_SUFFIX}"


def is_temporary(name: str) -> bool:
    """Whether a file has the name of a temporary file."""
    return name.endswith(_SUFFIX) and re.fullmatch(_NAME, name) is not None


def is_leftover(path: str) -> bool:
    """Whether a temporary file is one that an interrupted run has left. Nobody else's file is, whatever its name."""
    if not is_temporary(os.path.basename(path)) or os.path.islink(path):
        return False
    try:
        is_old = time.time() - os.stat(path).st_mtime > _LONGEST_WRITE
        return is_old and begins_like_ours(read_regular(path))
    except OSError:
        return False
