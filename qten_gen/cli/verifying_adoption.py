"""The command `qten-gen adopt --verify`. What it stands on imports torch and the user's code, in other processes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from ..project.config import ConfigError, load
from . import DONE, FOUND, MISUSE

if TYPE_CHECKING:
    from ..tools.verify.request import VerifyRequest


def verify(request: VerifyRequest, out: TextIO, err: TextIO) -> int:
    """Compare a model with what it was, print the differences, and return the exit status."""
    from time import perf_counter

    from ..tools.verify.request import VerifyError
    from ..tools.verify.verdict_text import lines
    from ..tools.verify.verifying import verify as compared

    started = perf_counter()
    try:
        verdict = compared(request)
    except VerifyError as error:
        err.write(error.trace)
        err.writelines(f"error: {problem}\n" for problem in error.problems)
        return MISUSE if error.is_misuse else FOUND
    out.writelines(f"{line}\n" for line in lines(verdict, took=perf_counter() - started))
    return DONE if verdict.is_equal else FOUND


def import_roots(err: TextIO) -> Sequence[str] | None:
    """The folders that the project imports from; None where its settings cannot be read, which is printed."""
    try:
        return [root for root in load(".").import_roots if os.path.isdir(root)]
    except ConfigError as error:
        from ..report.concise import headline

        err.write(f"{headline(error.diagnostic, color=False)}\n")
        return None
