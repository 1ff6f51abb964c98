"""Patterns for the names of parameters and buffers: `blocks.*.{q,k}_proj.**`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from .suggestions import nearest

_BRACES = re.compile(r"\{([^{}]*)\}")
_SEGMENT = re.compile(r"(?:\{[^{}]+\}|[^{}])+")
_SHOWN = 5


class PatternError(ValueError):
    """A pattern that is malformed, or that matches nothing."""


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression that matches the whole names that a pattern does.

    >>> compiled("blocks.*.{q,k}_proj.**").fullmatch("blocks.0.q_proj.weight") is not None
    True

    Raises:
        PatternError: A segment is empty, or a brace is not closed.
    """
    return re.compile(_expression(_segments(pattern)))


def matching(pattern: str, names: Collection[str]) -> list[str]:
    """The names that a pattern matches.

    Raises:
        PatternError: It is malformed, or it or one of several texts in braces matches nothing.
    """
    found = list(filter(compiled(pattern).fullmatch, names))
    for each in [pattern] if not found else with_one_choice(pattern):
        if not any(map(compiled(each).fullmatch, names)):
            raise PatternError(f"{each!r} matches nothing: {advice(each, names)}")
    return found


def listed(names: Collection[str]) -> str:
    """The first few names, and how many there are besides."""
    first = ", ".join(list(names)[:_SHOWN])
    return first if len(names) <= _SHOWN else f"{first} and {len(names) - _SHOWN} more"


def _segments(pattern: str) -> list[str]:
    segments = pattern.split(".")
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            what = "has an empty segment" if not segment else f"has a brace without the other in {segment!r}"
            raise PatternError(f"the pattern {pattern!r} {what}")
    return segments


def _expression(segments: list[str]) -> str:
    """The regular expression of some segments."""
    text = "".join(map(_step, segments))
    return text + "[^.]+" if segments[-1] == "**" else text.removesuffix(r"\.")


def _step(segment: str) -> str:
    """The regular expression of a segment and the dot behind it."""
    return r"(?:[^.]+\.)*" if segment == "**" else rf"{_of_segment(segment)}\."


def _of_segment(segment: str) -> str:
    text = ""
    for piece in re.split(r"(\*|\{[^{}]*\})", segment):
        if piece == "*":
            text += "[^.]*"
        elif piece.startswith("{"):
            text += f"(?:{'|'.join(map(_of_segment, _choices(piece)))})"
        else:
            text += re.escape(piece)
    return text


def _choices(braces: str) -> list[str]:
    """The texts that stand in braces: `{a,b}`, or numbers, `{0-47}`."""
    inner = braces[1:-1]
    numbers = re.fullmatch(r"(\d+)-(\d+)", inner)
    return inner.split(",") if numbers is None else list(map(str, range(int(numbers[1]), int(numbers[2]) + 1)))


def with_one_choice(pattern: str) -> Iterator[str]:
    """The pattern with one of the texts in the place of braces, for each of them."""
    for braces in _BRACES.finditer(pattern):
        for choice in _choices(braces[0]):
            yield pattern[: braces.start()] + choice + pattern[braces.end() :]


def advice(pattern: str, names: Collection[str]) -> str:
    """Where a pattern leaves the names, with the segment that is meant."""
    segments = _segments(pattern)
    for count, segment in enumerate(segments):
        if any(map(re.compile(_expression([*segments[: count + 1], "**"])).fullmatch, names)):
            continue  # something is below this segment
        below = sorted({found for name in names for found in _below(segments[:count], name)})
        if segment in below:
            return f"{'.'.join(segments[: count + 1])!r} has nothing below it"
        close = nearest(segment, below) or next((name for name in below if segment in name), None)
        if close is not None:
            return f"did you mean {close}?"
        before = ".".join(segments[:count]).removeprefix("**").removeprefix(".")
        where = f"below {before!r}" if before else "there"
        return f"{where} are {listed(below)}"
    return f"write '{pattern}.**' for all below it"


def _below(before: list[str], name: str) -> list[str]:
    """The segments of a name that may follow some segments of a pattern: all further ones after `**`, else one."""
    is_any = before[-1:] == ["**"]
    start = re.match("".join(map(_step, before[:-1] if is_any else before)), name)
    rest = [] if start is None else name[start.end() :].split(".")
    return [each for each in rest if not each.isdecimal()] if is_any else rest[:1]
