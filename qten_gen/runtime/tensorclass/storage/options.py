"""What the caller of a save asks for."""

from __future__ import annotations

from typing import NamedTuple


class Options(NamedTuple):
    """What the caller of a save asks for.

    Attributes:
        copy_existing: Whether a tensor that is a file elsewhere may be copied.
        like: Whether files of zeros are made, and no element is read.
        allow_pickle: Whether static values may be pickled.
        durable: Whether to wait until the disk has everything.
        existsok: Whether a folder that holds an object may get another.
        threads: How many threads write tensors.
    """

    copy_existing: bool = False
    like: bool = False
    allow_pickle: bool = False
    durable: bool = False
    existsok: bool = True
    threads: int = 0
