"""Which field is at fault when torch refuses an operation. Looked for only after torch has failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from .contents import contents
from .error_text import label
from .stored import Stored


def blame(action: str, objects: Sequence[Stored], function: Callable[..., object], error: RuntimeError) -> None:
    """Raise an error that names the field, from torch's; return where the tensors of every field can be worked on.

    Args:
        function: What was done to the tensors of a field, one of each object. It is called once more, with copies, as it may
            change what it is given.

    Raises:
        RuntimeError: torch refuses this field.
    """
    if type(error) not in (RuntimeError, NotImplementedError):
        return  # callers catch other classes by themselves, such as that of running out of memory
    first = objects[0]
    for name, value in contents(first).items():
        values: list[Any] = [value, *[contents(other)[name] for other in objects[1:]]]
        if isinstance(value, Stored) and name in first._nested:
            blame(action, values, function, error)
        elif isinstance(value, Tensor):
            _try(f"{action}: {label(first, name)}", values, function, error)
        elif isinstance(value, (dict, list)) and name in first._containers:
            for key in value if isinstance(value, dict) else range(len(value)):
                _try(f"{action}: {label(first, name)}[{key!r}]", [each[key] for each in values], function, error)


def _try(where: str, tensors: Sequence[Tensor], function: Callable[..., object], error: RuntimeError) -> None:
    try:
        function(*[tensor.detach().clone() for tensor in tensors])  # a copy, because the function may write into it
    except RuntimeError as found:
        raise RuntimeError(f"{where}: {found}") from error
