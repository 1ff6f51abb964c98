"""Parses the shape of a jaxtyping annotation into axes, and lists the names of its dtypes.

`emit.shape_checks` writes the checks for these axes. The rule `unsupported-shape` reports a shape that cannot be parsed.
"""

from __future__ import annotations

from enum import Enum

from ..common.records import record

BATCH = "*batch"
"""The word for the batch dimensions."""

FAMILIES = ("Float", "Int", "UInt", "Integer", "Real", "Num", "Inexact", "Complex")
"""The jaxtyping names that mean several dtypes."""

_NUMBERS = (
    "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 BFloat16 Float16 Float32 Float64 Complex64 Complex128 "
    "Float8e4m3fn Float8e4m3fnuz Float8e5m2 Float8e5m2fnuz"
)
DTYPES = {name: name.lower().replace("float8", "float8_") for name in ("Bool", *_NUMBERS.split())}
"""The jaxtyping names that mean one dtype, and its name in torch."""

ANY_DTYPE = "Shaped"
"""The jaxtyping name that means any dtype."""


class AxisKind(Enum):
    """The meaning of a word in a shape."""

    BATCH = "batch"
    """The batch dimensions: `*batch`."""
    SEVERAL = "several"
    """Any number of dimensions, with the same sizes wherever the name is used: `*image`."""
    REST = "rest"
    """Any number of dimensions: `...`."""
    NAME = "name"
    """One dimension, with the same size wherever the name is used: `seq`."""
    BROADCAST = "broadcast"
    """One dimension of the size of that name, or of size 1: `#seq`."""
    SIZE = "size"
    """One dimension of that size: `3`, or `rgb=3`."""
    ANY = "any"
    """One dimension of any size: `_`."""


@record(frozen=True, slots=True)
class Axis:
    """A word of a shape: `seq`, `*batch` or `3`."""

    kind: AxisKind
    value: str = ""
    """Its name, or its size in digits: `"seq"`, `"3"`. Empty for `*batch`, `...` and `_`."""

    @property
    def is_several(self) -> bool:
        """True if the axis matches any number of dimensions."""
        return self.kind in (AxisKind.BATCH, AxisKind.SEVERAL, AxisKind.REST)


class UnreadableShape(ValueError):
    """A shape that cannot be parsed; the message says why."""


_DIGITS = 18
"""The digits of the largest size that is read; sizes of tensors have 64 bits."""


def read_axes(text: str) -> tuple[Axis, ...]:
    """Parse a shape, `"*batch seq 3"`, into axes.

    Raises:
        UnreadableShape: a word is unknown, or two words match any number of dimensions.

    >>> [axis.kind.value for axis in read_axes("*batch seq 3")]
    ['batch', 'name', 'size']
    """
    axes = tuple(_axis(word) for word in text.split())
    if sum(axis.is_several for axis in axes) > 1:
        raise UnreadableShape("only one word can match any number of dimensions")
    return axes


def _axis(word: str) -> Axis:
    """Parse a word. `rgb=3` is a size; its name is only documentation."""
    size = word.rpartition("=")[2]
    # Before `*name`, because it is one.
    if word == BATCH:
        return Axis(AxisKind.BATCH)
    if word == "..." or word.startswith("*_"):
        return Axis(AxisKind.REST)
    if word.startswith("*") and word[1:].isidentifier():
        return Axis(AxisKind.SEVERAL, word[1:])
    if size.isdecimal():
        if len(size) > _DIGITS:
            raise UnreadableShape(f"a size of {len(size)} digits is larger than any tensor")
        # Python refuses a number like 08.
        return Axis(AxisKind.SIZE, str(int(size)))
    if word.startswith("#") and word[1:].isidentifier():
        return Axis(AxisKind.BROADCAST, word[1:])
    if word.isidentifier():
        return Axis(AxisKind.ANY) if word.startswith("_") else Axis(AxisKind.NAME, word)
    raise UnreadableShape(f"{word!r} is not a size, a name, `*name`, `#name`, `_` or `...`")
