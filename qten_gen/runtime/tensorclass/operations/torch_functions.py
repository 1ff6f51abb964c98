"""Functions of torch that take a TensorClass where they take a tensor: `torch.sin(batch)`, `torch.stack([a, b])`.

Type checkers know torch's own signatures only, so each has a typed twin: `batch.sin()`, `Batch.stack([a, b])`.
"""

from __future__ import annotations

from collections.abc import Callable

from .table import torch_functions

_HANDLERS = torch_functions()


def dispatch(
    cls: type[object], function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object] | None
) -> object:
    """Call the TensorClass form of a torch function, for `__torch_function__`.

    Returns:
        Its result.

    Raises:
        TypeError: the function has no such form.
    """
    handler = _HANDLERS.get(function)
    if handler is not None:
        return handler(*args, **(kwargs or {}))
    name = f"{getattr(function, '__module__', None) or 'torch'}.{getattr(function, '__name__', function)}"
    raise TypeError(f"{name} is not defined for {cls.__name__}; apply it to the tensors, with .apply or field by field")
