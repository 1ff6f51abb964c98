"""Finds the field whose tensors torch refused to work on, and names it in the error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from .contents import contents
from .error_text import label
from .stored import Stored


def blame(
    action: str,
    objects: Sequence[Stored],
    function: Callable[..., object],
    error: RuntimeError,
    of_rows: Callable[..., object] | None = None,
) -> None:
    """Raise an error that names the field, from torch's; return where the tensors of every field can be worked on.

    Args:
        function: What was done to the tensors of a field, one of each object. It is called once more, with copies, as it may
            change what it is given.
        of_rows: What was done to the rows of a Ragged field, if that is something else.

    Raises:
        RuntimeError: torch refuses this field.
    """
    if type(error) not in (RuntimeError, NotImplementedError):
        return  # callers catch other classes by themselves, such as that of running out of memory
    first = objects[0]
    for name, value in contents(first).items():
        values: list[Any] = [value, *[contents(other)[name] for other in objects[1:]]]
        if name in first.__structure__:
            continue
        if isinstance(value, Stored) and name in first._nested:
            if name in first.__ragged__:
                blame(f"{action}: {label(first, name)}", values, of_rows or function, error)
            else:
                blame(action, values, function, error, of_rows)
        elif isinstance(value, Tensor):
            _try(f"{action}: {label(first, name)}", values, function, error)
        elif isinstance(value, (dict, list)) and name in first._containers:
            for key in value if isinstance(value, dict) else range(len(value)):
                _try(f"{action}: {label(first, name)}[{key!r}]", [each[key] for each in values], function, error)


_NOT_OF_COPIES = ("a single memory location", "a leaf Variable that requires grad")
"""Errors of torch about how tensors were made: copies do not show them, and may show another, of a field that was not reached."""


def _try(where: str, tensors: Sequence[Tensor], function: Callable[..., object], error: RuntimeError) -> None:
    """Raise an error that names the tensors, if the function fails on copies of them."""
    if any(words in str(error) for words in _NOT_OF_COPIES):
        if _is_one_memory(tensors) if _NOT_OF_COPIES[0] in str(error) else tensors[0].requires_grad:
            raise RuntimeError(f"{where}: {error}") from error
        return
    try:
        function(*[tensor.detach().clone() for tensor in tensors])  # a copy, because the function may write into it
    except RuntimeError as found:
        advice = "; a field of items of different lengths is Ragged[Tensor]" if "equal size" in str(found) else ""
        if "Ragged.rows" in where:
            advice = "; items of a Ragged vary in their first dimension only: store [n, 2] in place of [2, n]"
        raise RuntimeError(f"{where}: {found}{advice}") from error


def _is_one_memory(tensors: Sequence[Tensor]) -> bool:
    """Return whether a write into the first tensor may meet an element twice, or one of the others."""
    target = tensors[0]
    repeats = any(step == 0 and size > 1 for size, step in zip(target.shape, target.stride(), strict=True))
    storage = target.untyped_storage().data_ptr()
    return repeats or any(other.untyped_storage().data_ptr() == storage for other in tensors[1:])
