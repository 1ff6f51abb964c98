"""The text of a lock: written so that a diff shows a line for each tensor that changed, and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .lines import TIE, Line, Lock

VERSIONS = "versions"
_HEAD = "# lock 1: "
_ABOUT = "# What its checkpoints hold. Written by `qten-gen lock`; commit it, and do not edit it.\n"
KEPT = " kept"
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
    longest = max(map(len, (VERSIONS, *(line.name for line in lock.lines))))
    width = (longest + 2 + _STEP - 1) // _STEP * _STEP
    yield f"{VERSIONS:{width}}{', '.join(f'{name} {number}' for name, number in lock.versions.items()) or '-'}"
    for line in lock.lines:
        if line.kind == TIE:
            yield f"{line.name:{width}}= {line.tie}"
        else:
            dtype = line.dtype + KEPT if line.kept else line.dtype
            columns = f"{line.name:{width}}{dtype:8}  {line.kind:7}  {line.shape:12}"
            yield f"{columns}  {line.declared}" if line.declared else columns.rstrip()


def read(text: str) -> Lock:
    """The lock that a text is.

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
        if columns[0] == VERSIONS and len(columns) == 2 and not columns[1].startswith(f"{TIE} "):
            sections.append((_versions(columns[1], number), []))
        elif columns[0] == "declarations" and len(columns) == 2 and not columns[1].startswith(f"{TIE} "):
            continue  # digests of generated files, which earlier releases wrote
        elif not sections:
            raise LockError(f"line {number}: expected {VERSIONS!r} before the first tensor, got {line[:40]!r}")
        else:
            sections[-1][1].append(_line(columns, number))
    if not sections:
        raise LockError(f"it has no line {VERSIONS!r}")
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
            plain = dtype.removesuffix(KEPT)
            return Line(name, plain, kind, shape, "".join(declared), kept=plain != dtype)
    raise LockError(f"line {number}: expected a name, a dtype, a kind and a shape, got {'  '.join(columns)[:60]!r}")
