"""Records bugs in qten-gen with the file and the stage, so that the other files are still generated."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..common.records import record

_P = ParamSpec("_P")
_T = TypeVar("_T")


@record(frozen=True, slots=True)
class Crash:
    """An unexpected exception: the file, the stage, and the traceback."""

    path: str
    stage: str
    traceback: str


def attempt(
    crashes: list[Crash], path: str, stage: str, step: Callable[_P, _T], *args: _P.args, **keywords: _P.kwargs
) -> _T | None:
    """Call `step` and return its result. If it raises, add a crash to `crashes` and return None."""
    try:
        return step(*args, **keywords)
    except Exception:
        from traceback import format_exc

        crashes.append(Crash(path, stage, format_exc()))
        return None
