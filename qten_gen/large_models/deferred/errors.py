"""Errors of recording and replay, and the user's line."""

from __future__ import annotations

import sys
from types import FrameType
from typing import NamedTuple, cast

from torch import Tensor, nn

from ..fake.arguments import LIBRARIES


class DeferredError(RuntimeError):
    """Something was asked of a deferred tensor that it cannot answer, or that could not be recorded."""


class Place(NamedTuple):
    """The line of the user's code that ran an operation."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def refused(what: object, why: str, instead: str = "do it after the module is materialized") -> DeferredError:
    """The error about something that cannot be recorded."""
    return DeferredError(f"{caller()[0]}: deferred_init cannot record {what}: {why}; {instead}")


_MAKING = nn.Parameter.__new__.__code__
"""The constructor that makes a tensor object of a class which only its frame tells. Hashes of code are slow."""


def caller() -> tuple[Place, type[Tensor] | None]:
    """The innermost line that belongs neither to torch nor to this package, and the class of a parameter that is being made."""
    frame: FrameType | None = sys._getframe(1)
    made: type[Tensor] | None = None
    outermost = frame
    while frame is not None:
        code = frame.f_code
        if code is _MAKING and made is None:
            made = cast("type[Tensor]", frame.f_locals["cls"])
        if not code.co_filename.startswith(LIBRARIES):
            return Place(code.co_filename, frame.f_lineno), made
        outermost, frame = frame, frame.f_back
    return Place(outermost.f_code.co_filename, outermost.f_lineno), made  # type: ignore[union-attr] # there is always a frame
