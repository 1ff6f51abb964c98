"""Functions of torch that take a TensorClass where they take a tensor: `torch.sin(batch)`, `torch.stack([a, b])`.

Type checkers know torch's own signatures only, so each has a typed twin: `batch.sin()`, `Batch.stack([a, b])`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType

from ..torch_tools import differentiation
from .table import torch_functions


def _name(function: Callable[..., object]) -> str:
    """What a function is called in a message: `torch.sort`."""
    return f"{getattr(function, '__module__', None) or 'torch'}.{getattr(function, '__name__', function)}"


_HANDLERS = torch_functions() | differentiation.torch_functions()

# Methods of tensors that torch writes in Python, such as `Tensor.__rsub__`. They are recognised by name: while a graph is traced,
# a dictionary does not find them.
_METHODS = {
    _name(function): _HANDLERS.pop(function)
    for function in [*_HANDLERS]
    if isinstance(function, FunctionType) and function.__module__ == "torch._tensor"
}


def dispatch(
    cls: type[object],
    func: Callable[..., object],
    types: Sequence[type],
    args: tuple[object, ...] = (),
    kwargs: dict[str, object] | None = None,
) -> object:
    """The TensorClass form of a torch function; `__torch_function__` of TensorClass.

    Returns:
        Its result.

    Raises:
        TypeError: the function has no such form.
    """
    handler = _HANDLERS.get(func)
    if handler is not None:
        return handler(*args, **(kwargs or {}))
    name = _name(func)
    handler = _METHODS.get(name)
    if handler is not None:
        return handler(*args, **(kwargs or {}))
    raise TypeError(f"{name} is not defined for {cls.__name__}; apply it to the tensors, with .apply or field by field")
