"""Faults of ours: noted with the file and the stage, so that the other files are spared."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Crash:
    """A fault of ours: the file it happened at, the stage, and the traceback."""

    path: str
    stage: str
    traceback: str


def attempt(
    crashes: list[Crash], path: str, stage: str, step: Callable[_P, _T], *args: _P.args, **keywords: _P.kwargs
) -> _T | None:
    """The result of a stage; None, and a crash added to `crashes`, where it raises."""
    try:
        return step(*args, **keywords)
    except Exception:
        crashes.append(Crash(path, stage, traceback.format_exc()))
        return None
