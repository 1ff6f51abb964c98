"""How a constructor uses an argument, as far as that says of which type it is."""

from __future__ import annotations

from enum import Enum


class Use(Enum):
    """One way in which an argument is used."""

    SIZE = "size"
    """A layer of torch takes it as an integer, and nothing else."""
    RATE = "rate"
    """A layer of torch takes it as a float."""
    INTEGER = "int"
    """It counts something, or is divided into integers."""
    NUMBER = "float"
    TEXT = "str"
    SEQUENCE = "Sequence[Any]"
    TEST = "bool"
    """It decides about a branch."""
    VALUE = "value"
    """Nothing that a module could do: it has attributes, or a layer of torch or a computation takes it."""
    CLASS = "Callable[..., Module]"
    """It is called, and makes a child."""
    NONE = "none"
    """Says nothing, as `x is None`."""
    STORED = "stored"
    """It is assigned to the attribute of its own name."""
    RETURNED = "returned"
    """A function gives it back."""
    OTHER = "other"
    """Anything else, which a module could be meant for."""
