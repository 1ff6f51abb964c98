"""Folds equal layers: the lines of `blocks.0.norm.weight` to `blocks.47.norm.weight` are one, `blocks.{0-47}.norm.weight`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from ...common.folded_names import fold, with_segment
from .lines import Line

_RANGE = re.compile(r"\{(\d+)-(\d+)\}")


def folded(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines with equal ones of consecutive numbers as one, in the order of the first of each.

    >>> [line.name for line in folded([Line("0.w"), Line("0.b"), Line("1.w"), Line("1.b"), Line("3.w")])]
    ['{0-1}.w', '{0-1}.b', '3.w']
    """
    return tuple(fold(lines, lambda line: line.name, _renumbered, lambda line: line._replace(name="")))


def _renumbered(line: Line, position: int, segment: str) -> Line:
    """A line under another number; a tie to the same number at the same position goes with it."""
    number = line.name.split(".")[position]
    tied = line.tie.split(".")
    tie = with_segment(line.tie, position, segment) if tied[position : position + 1] == [number] else line.tie
    return line._replace(name=with_segment(line.name, position, segment), tie=tie)


def unfolded(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines with one for each tensor.

    >>> [line.name for line in unfolded([Line("{0-1}.{2-3}.w")])]
    ['0.2.w', '0.3.w', '1.2.w', '1.3.w']
    """
    for line in lines:
        texts = _RANGE.split(line.name)[::3]
        if len(texts) == 1:
            yield line
            continue
        ranges = [(found[0], range(int(found[1]), int(found[2]) + 1)) for found in _RANGE.finditer(line.name)]
        for numbers in product(*(numbers for _, numbers in ranges)):
            name = texts[0] + "".join(f"{number}{text}" for number, text in zip(numbers, texts[1:], strict=True))
            tie = line.tie
            for (pattern, _), number in zip(ranges, numbers, strict=True) if tie else ():
                tie = tie.replace(pattern, str(number), 1)
            yield Line(name, line.dtype, line.kind, line.shape, line.declared, tie, line.kept)
