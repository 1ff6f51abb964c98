"""What rewritten tests use in place of tensordict's functions."""

from __future__ import annotations

from qten_gen import TensorClass


def is_tensorclass(value: object) -> bool:
    """Whether a value is an object of a TensorClass, or such a class."""
    return isinstance(value, TensorClass) or (isinstance(value, type) and issubclass(value, TensorClass))


def refused(error: Exception) -> type:
    """What stands for a class that could not be declared: the tests that use it end in its error."""

    class Refused:
        def __init__(self, *args: object, **keywords: object) -> None:
            raise error

    return Refused


def tensorclass(cls: type) -> type:
    """The class itself, which the rewritten source has declared."""
    if not issubclass(cls, TensorClass):
        raise TypeError(f"{cls.__name__} is declared by a call, which this project does not do")
    return cls
