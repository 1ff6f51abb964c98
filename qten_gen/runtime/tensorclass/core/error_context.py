"""Which field is at fault when torch refuses an operation. Looked for only after torch has failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from .contents import contents
from .error_text import label
from .stored import Stored


def explain(action: str, objects: Sequence[Stored], error: RuntimeError, *, dtypes: bool = False) -> None:
    """Raise an error that names the field, from torch's; return where no difference is found.

    Args:
        dtypes: Whether the dtypes have to be the same too.

    Raises:
        ValueError: a shape beyond the batch size, a device or a dtype is not the same in all objects.
    """
    found = _difference(objects, len(objects[0]._batch_size), dtypes)
    if found is not None:
        is_ragged = action == "stack" and "one shape" in found
        advice = f"; {type(objects[0]).__name__}.lazy_stack takes objects of different shapes" if is_ragged else ""
        raise ValueError(f"{action}: {found}{advice}") from error


def _difference(objects: Sequence[Stored], batch_ndim: int, dtypes: bool) -> str | None:
    """The first tensor whose shape beyond `batch_ndim` batch dimensions, device or dtype is not the same in all objects."""
    first = objects[0]
    for name, value in contents(first).items():
        others: list[Any] = [contents(other)[name] for other in objects[1:]]
        if isinstance(value, (dict, list)) and name not in first._unbatched:
            found = _inside(label(first, name), [value, *others], batch_ndim, dtypes)
        elif isinstance(value, Tensor) and name not in first._unbatched:
            between = _between(value, others, batch_ndim, dtypes)
            found = between and f"{label(first, name)}: {between}"
        elif isinstance(value, Stored) and name in first._nested:
            found = _difference([value, *others], batch_ndim, dtypes)
        else:
            found = None
        if found is not None:
            return found
    return None


def _inside(where: str, values: list[Any], batch_ndim: int, dtypes: bool) -> str | None:
    """The first key whose tensors differ between dicts or lists that are alike."""
    keys = values[0] if isinstance(values[0], dict) else range(len(values[0]))
    for key in keys:
        one, *rest = (value[key] for value in values)
        between = _between(one, rest, batch_ndim, dtypes)
        if between is not None:
            return f"{where}[{key!r}]: {between}"
    return None


def _between(value: Tensor, others: list[Tensor], batch_ndim: int, dtypes: bool) -> str | None:
    for other in others:
        if other.shape[batch_ndim:] != value.shape[batch_ndim:]:
            shapes = f"{list(value.shape[batch_ndim:])} and {list(other.shape[batch_ndim:])}"
            return f"expected one shape beyond the batch size in all objects, got {shapes}"
        if other.device != value.device:
            return f"expected one device in all objects, got {value.device} and {other.device}"
        if dtypes and other.dtype != value.dtype:
            return f"expected one dtype in both objects, got {value.dtype} and {other.dtype}"
    return None


def blame(action: str, self: Stored, function: Callable[[Tensor], object], error: RuntimeError) -> None:
    """Raise an error that names the field, from torch's; return where every tensor can be worked on alone.

    Args:
        function: What was done to each tensor. It is called once more, with copies, as it may change what it is given.

    Raises:
        RuntimeError: torch refuses this field.
    """
    if type(error) not in (RuntimeError, NotImplementedError):
        return  # callers catch other classes by themselves, such as that of running out of memory
    for name, value in contents(self).items():
        if isinstance(value, Stored) and name in self._nested:
            blame(action, value, function, error)
        elif isinstance(value, Tensor):
            try:
                function(value.detach().clone())
            except RuntimeError as found:
                raise RuntimeError(f"{action}: {label(self, name)}: {found}") from error
