"""A lock: a line for each tensor of a model, or for each field of a TensorClass; as data, and as the text that is committed.

Equal layers are folded: the lines of `blocks.0.norm.weight` to `blocks.47.norm.weight` are one, `blocks.{0-47}.norm.weight`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ...common.state_differences import fold, with_number, with_segment

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
    keeps_dtype: bool = False
    """Its dtype stays where the module is cast: `keep_dtype=True`."""

    @property
    def is_saved(self) -> bool:
        """Checkpoints hold it."""
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
    tie = with_number(line.tie, position, number, segment)
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


_VERSIONS = "versions"
_HEAD = "# lock 1: "
_ABOUT = "# What its checkpoints hold. Written by `qten-gen lock`; commit it, and do not edit it.\n"
_KEEPS = " kept"
"""The mark after a dtype that stays where the module is cast."""
_STEP = 16
"""The names have a column of a multiple of this width: a longer name moves the others seldom."""


class LockError(ValueError):
    """The text of a lock cannot be read."""


def as_text(lock: Lock) -> str:
    """The text of a lock, with its earlier ones below it.

    >>> print(as_text(Lock("m:Net", {"Net": 1}, (Line("w", "float32", "param", "[2]", "[width]"), Line("v", tie="w")))), end="")
    # lock 1: m:Net
    # What its checkpoints hold. Written by `qten-gen lock`; commit it, and do not edit it.
    versions        Net 1
    w               float32   param    [2]           [width]
    v               = w
    """
    sections = "\n\n".join("\n".join(_section(each)) for each in (lock, *lock.earlier))
    return f"{_HEAD}{lock.target}\n{_ABOUT}{sections}\n"


def _section(lock: Lock) -> Iterator[str]:
    """The lines of one version."""
    longest = max(map(len, (_VERSIONS, *(line.name for line in lock.lines))))
    width = (longest + 2 + _STEP - 1) // _STEP * _STEP
    yield f"{_VERSIONS:{width}}{', '.join(f'{name} {number}' for name, number in lock.versions.items()) or '-'}"
    for line in lock.lines:
        if line.kind == TIE:
            yield f"{line.name:{width}}= {line.tie}"
        else:
            dtype = line.dtype + _KEEPS if line.keeps_dtype else line.dtype
            columns = f"{line.name:{width}}{dtype:8}  {line.kind:7}  {line.shape:12}"
            yield f"{columns}  {line.declared}" if line.declared else columns.rstrip()


def read(path: str) -> Lock:
    """The lock in a file.

    Raises:
        LockError: The file is none, or damaged.
        OSError: It cannot be read.
    """
    with open(path, encoding="utf-8") as file:
        return parse(file.read())


def parse(text: str) -> Lock:
    """The lock that is written in a text.

    Raises:
        LockError: It is none, or a line of it is damaged.
    """
    first, *rest = text.splitlines() or [""]
    if not first.startswith(_HEAD):
        raise LockError(f"line 1: expected {_HEAD!r} and a target, got {first[:40]!r}")
    target = first.removeprefix(_HEAD)
    sections: list[tuple[Mapping[str, int], list[Line]]] = []
    for number, line in enumerate(rest, 2):
        if not line.strip() or line.startswith("#"):
            continue
        columns = re.split(r" {2,}", line.rstrip())
        if columns[0] == _VERSIONS and len(columns) == 2 and not columns[1].startswith(f"{TIE} "):
            sections.append((_versions(columns[1], number), []))
        elif not sections:
            raise LockError(f"line {number}: expected {_VERSIONS!r} before the first tensor, got {line[:40]!r}")
        else:
            sections[-1][1].append(_line(columns, number))
    if not sections:
        raise LockError(f"it has no line {_VERSIONS!r}")
    now, *earlier = [Lock(target, versions, tuple(lines)) for versions, lines in sections]
    return now._replace(earlier=tuple(earlier))


def _versions(text: str, number: int) -> dict[str, int]:
    if text == "-":
        return {}
    found = dict[str, int]()
    for item in text.split(", "):
        name, _, version = item.rpartition(" ")
        if not name or not version.isdecimal():
            raise LockError(f"line {number}: expected a class and its version, got {item!r}")
        found[name] = int(version)
    return found


def _line(columns: list[str], number: int) -> Line:
    match columns:
        case [name, tied] if tied.startswith(f"{TIE} "):
            return Line(name, tie=tied.removeprefix(f"{TIE} "))
        case [name, dtype, kind, shape, *declared] if len(declared) < 2:
            plain = dtype.removesuffix(_KEEPS)
            return Line(name, plain, kind, shape, "".join(declared), keeps_dtype=plain != dtype)
    raise LockError(f"line {number}: expected a name, a dtype, a kind and a shape, got {'  '.join(columns)[:60]!r}")
