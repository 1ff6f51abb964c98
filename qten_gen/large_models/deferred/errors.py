"""Errors of recording and replay, and the user's line."""

from __future__ import annotations

import sys
from types import FrameType
from typing import cast

from torch import Tensor, nn

from ..fake.arguments import LIBRARIES


class DeferredError(RuntimeError):
    """Something was asked of a deferred tensor that it cannot answer, or that could not be recorded."""


def refused(what: object, why: str, instead: str = "do it after the module is materialized") -> DeferredError:
    """The error about something that cannot be recorded."""
    return DeferredError(f"{caller()[0]}: deferred_init cannot record {what}: {why}; {instead}")


_MAKING = nn.Parameter.__new__.__code__
"""The constructor that makes a tensor object of a class which only its frame tells. Hashes of code are slow."""


def caller() -> tuple[str, type[Tensor] | None]:
    """The innermost line that belongs neither to torch nor to this package, and the class of a parameter that is being made."""
    frame: FrameType | None = sys._getframe(1)
    made: type[Tensor] | None = None
    while frame is not None:
        code = frame.f_code
        if code is _MAKING and made is None:
            made = cast("type[Tensor]", frame.f_locals["cls"])
        if not code.co_filename.startswith(LIBRARIES):
            return f"{code.co_filename}:{frame.f_lineno}", made
        frame = frame.f_back
    return "<unknown>:0", made
