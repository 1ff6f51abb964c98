"""How error messages name classes, fields and values.

A message names the class and the field (`Batch.tokens`), what was expected, and what was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import Repr

from torch import Tensor

from .stored import Stored

NO_BATCH_SIZE = "give the constructor a batch_size=[...], or call .auto_batch_size_()"
"""Advice about an object without batch dimensions, for which the constructor may have been given no batch size."""

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def label(self: Stored, name: str) -> str:
    """The name of a field in a message: `Batch.tokens`."""
    return f"{type(self).__name__}.{name}"


def describe(value: object) -> str:
    """The description of a value in a message: its type, with the value itself where that is short.

    >>> describe("train"), describe([1, 2])
    ("str 'train'", 'a list')
    """
    kind = type(value).__name__
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return f"a Tensor of dtype {value.dtype} and shape {list(value.shape)}"
    # Python refuses to write integers of many digits.
    is_plain = isinstance(value, (float, complex, str)) or (isinstance(value, int) and value.bit_length() < 96)
    if is_plain and len(repr(value)) < 30:
        return f"{kind} {value!r}"
    return f"a {kind}"


def abridged(value: object) -> str:
    """A list of sizes, or another value, as a message shows it: no more than its first items.

    >>> abridged([*range(1000)])
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return _SHORT.repr(value)


def difference(first: object, other: object) -> str:
    """The differing part of two values in a message, however long they are.

    >>> difference("train", "test")
    "'train' and 'test'"
    """
    one, two = _SHORT.repr(first), _SHORT.repr(other)
    return f"{one} and {two}" if one != two else f"two values that both begin like {one}"


def of_another_class(cls: type, value: object) -> TypeError:
    """The error about an object that was passed to a method of another class, to be raised."""
    return TypeError(f"expected {cls.__name__}, got {type(value).__name__}{disambiguation(cls, value)}")


def disambiguation(cls: type, value: object) -> str:
    """The addition to a message about a value of another class, where both classes have the same name."""
    other = type(value)
    if other.__name__ != cls.__name__:
        return ""
    if other.__module__ != cls.__module__:
        return f" of {other.__module__}, which is not the one of {cls.__module__}"
    return " of another class of that name; one of them was declared again: run again what uses the old one"


def class_names(first: object, other: object) -> str:
    """The classes of two objects that should be of one class, for a message: `Batch and Point`."""
    return f"{type(first).__name__} and {type(other).__name__}{disambiguation(type(first), other)}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the closest known name, or all of them.

    >>> suggestion("tokns", ["tokens", "mask"])
    "; did you mean 'tokens'?"
    """
    from ....common.suggestions import nearest

    names = list(known)
    close = nearest(name, names)
    return f"; did you mean {close!r}?" if close else f"; the fields are: {', '.join(names) or 'none'}"
