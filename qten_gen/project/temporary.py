"""Names and recognises the temporary files that a run writes, before it renames them to outputs.

A run that is killed leaves one. The next run removes it, if its name and its content say that it is one of ours, and if the
process that wrote it is gone.
"""

import os
import re
import time

from ..common.header import begins_like_ours
from .paths import read_regular

_NAME = r"\.qten-gen-[0-9a-f]{12}-(\d{1,10})\.tmp"
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
    match = re.fullmatch(_NAME, os.path.basename(path))
    if match is None or os.path.islink(path):
        return False
    try:
        age = time.time() - os.stat(path).st_mtime
        return not may_be_running(int(match[1]), age) and begins_like_ours(read_regular(path))
    except OSError:
        return False


def may_be_running(process: int, age: float, system: str = os.name) -> bool:
    """Whether another process may still be writing a file. In containers, numbers are used again soon.

    Args:
        process: The number of the process, from the name of the file.
        age: The seconds since the file changed. On Windows they decide, because `os.kill` would end the process there.
        system: What `os.name` is.
    """
    if process == os.getpid():
        return False
    if system == "nt":
        return age < _LONGEST_WRITE
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
