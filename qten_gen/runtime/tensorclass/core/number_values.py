"""Numbers beside tensors: Python's numbers and NumPy's scalars, which every environment and data set returns."""

from __future__ import annotations

from numbers import Number
from typing import Any, TypeGuard


def is_number(value: object) -> TypeGuard[complex]:
    """Whether a value is a number for tensors; a bool is one, and so are NumPy's.

    >>> is_number(2.5), is_number(numpy.bool_(True)), is_number(numpy.ones(1))
    (True, True, False)
    """
    # The usual numbers go first, without the cost of an abstract class. NumPy registers its bool nowhere.
    if isinstance(value, (int, float, complex)):
        return True
    return isinstance(value, Number) or (_is_of_numpy(value) and type(value).__name__ in ("bool", "bool_"))


def written(value: Any) -> Any:
    """The number to write into the items of a tensor, which takes Python's only: theirs in place of NumPy's.

    >>> written(numpy.float32(2.5))
    2.5
    """
    return value.item() if _is_of_numpy(value) else value


def is_array(value: object) -> bool:
    """Whether a value is an array of NumPy."""
    return _is_of_numpy(value) and type(value).__name__ == "ndarray"


def _is_of_numpy(value: object) -> bool:
    return type(value).__module__ == "numpy"
