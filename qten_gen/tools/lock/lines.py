"""A lock as data: a line for each tensor of a model, or for each field of a TensorClass.

Equal layers are folded: the lines of `blocks.0.norm.weight` to `blocks.47.norm.weight` are one, `blocks.{0-47}.norm.weight`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ...common.folded_names import fold, with_segment

UNSAVED = "unsaved"
"""The kind of a buffer that is not in the state dict."""

UNNAMED = 1
"""The version of a plain nn.Module that names none; its lock does not name it either."""

TIE = "="
"""The kind of a second name of a tensor."""


class Line(NamedTuple):
    """A tensor under one of its names, or several equal ones whose names differ in numbers: `blocks.{0-47}.norm.weight`."""

    name: str
    dtype: str = ""
    """Torch's name, `float32`; of a field, jaxtyping's name or the type of a Python value. Empty for a tie."""
    kind: str = TIE
    """`param`, `buffer`, `unsaved` or `=`; of a field, how a TensorClass stores it."""
    shape: str = ""
    """`[192, 64]`; `[]` for a scalar, and `?` for a tensor without a shape yet."""
    declared: str = ""
    """The declaration: `[3*width, width]`, or the layer that holds the tensor, `Linear(width, 3*width)`."""
    tie: str = ""
    """For a tie, the name under which the tensor stands first."""
    kept: bool = False
    """Whether its dtype stays where the module is cast: `keep_dtype=True`."""

    @property
    def is_saved(self) -> bool:
        """Whether checkpoints hold it."""
        return self.kind != UNSAVED


class Lock(NamedTuple):
    """The content of a model's checkpoints."""

    target: str
    """The model with its arguments: `shop.model:Decoder(width=64, depth=2)`."""
    versions: Mapping[str, int]
    """The `version` of each declared class of the model, and of each plain one that names one, by its name."""
    lines: tuple[Line, ...]
    earlier: tuple[Lock, ...] = ()
    """The locks under lower versions, the newest first."""


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
        for name in names(line):
            yield line._replace(name=name, tie=_tied(line, name)) if line.tie else line._replace(name=name)


def names(line: Line) -> list[str]:
    """The names of the tensors that a line folds.

    >>> names(Line("blocks.{0-1}.w"))
    ['blocks.0.w', 'blocks.1.w']
    """
    first, *pieces = _RANGE.split(line.name)
    found = [first]
    for start, stop, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        numbers = range(int(start), int(stop) + 1)
        found = [f"{name}{number}{text}" for name in found for number in numbers]
    return found


def _tied(line: Line, name: str) -> str:
    """The tie of a line under one of its names, with the same numbers at the same positions (see `_renumbered`)."""
    tie = line.tie.split(".")
    for position, (pattern, number) in enumerate(zip(line.name.split("."), name.split("."), strict=True)):
        if tie[position : position + 1] == [pattern]:
            tie[position] = number
    return ".".join(tie)
