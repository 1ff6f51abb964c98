"""Which of several types is the more specific one, as far as text and the standard library tell.

Checkers take the first overload that an argument fits, and a call runs the handler for the most specific type of its argument. So
the overloads stand in an order in which no type comes before one that is below it.
"""

from __future__ import annotations

import builtins
import collections.abc
from collections.abc import Collection, Sequence
from enum import IntEnum

_ABSTRACT = frozenset({"abc.ABC", "typing.Protocol", "typing_extensions.Protocol"})
_NUMBERS = ("Number", "Complex", "Real", "Rational", "Integral")
_PROMOTED = {"float": 1, "complex": 2}
"""Type checkers take an int for a float, and a float for a complex."""
_TORCH_BASES = frozenset({"torch.Tensor", "torch.nn.Module"})
"""Bases of classes of torch, and of libraries, whose own bases no file of the run says."""


class _Group(IntEnum):
    """Groups of types, from the most specific one: abstract classes cover classes that do not derive from them."""

    CLASS = 0
    BASE_OF_LIBRARIES = 1
    ABSTRACT = 2
    ABSTRACT_OF_LIBRARY = 3
    OBJECT = 4


def order(name: str, mro: Sequence[str], bases: Collection[str]) -> tuple[int, int]:
    """The key that sorts a type among others: its qualified name, its ancestors with itself, and its direct bases in the run.

    >>> order("builtins.bool", ["builtins.bool"], ()) < order("builtins.int", ["builtins.int"], ())
    True
    """
    module, _, word = name.rpartition(".")
    if name == "builtins.object":
        return _Group.OBJECT, 0
    if module in ("collections.abc", "typing") and isinstance(found := getattr(collections.abc, word, None), type):
        return _Group.ABSTRACT_OF_LIBRARY, -len(found.__mro__)
    if module == "numbers" and word in _NUMBERS:
        return _Group.ABSTRACT_OF_LIBRARY, -_NUMBERS.index(word)
    if module == "builtins" and isinstance(found := getattr(builtins, word, None), type):
        return _Group.CLASS, _PROMOTED.get(word, 0) - len(found.__mro__)
    if name in _TORCH_BASES:
        return _Group.BASE_OF_LIBRARIES, 0
    return _Group.CLASS if _ABSTRACT.isdisjoint(bases) else _Group.ABSTRACT, -len(mro)
