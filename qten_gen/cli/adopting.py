"""The command `qten-gen adopt`, which makes classes of qten_gen of existing ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from . import DONE, MISUSE
from .adopt_options import AdoptOptions, parse
from .options import UsageError


def adopt(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Report what would be adopted, or do it, and return the exit status."""
    try:
        options = parse(arguments, out)
    except UsageError as error:
        err.write(f"error: {error}\nusage: qten-gen adopt [options] [PATH ...]; for more, qten-gen adopt --help\n")
        return MISUSE
    return DONE if options is None else _adopt(options, out, err)


def _adopt(options: AdoptOptions, out: TextIO, err: TextIO) -> int:
    raise NotImplementedError
