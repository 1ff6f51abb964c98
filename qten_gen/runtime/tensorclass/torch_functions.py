"""Functions of torch that take a TensorClass where they take a tensor: `torch.stack([a, b])`, `torch.zeros_like(batch)`.

Type checkers know torch's own signatures only, so each has a typed twin on the class: `Batch.stack([a, b])`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from . import joining, movement, operators, shapes
from .checks import device as as_device

if TYPE_CHECKING:
    from .tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")


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


def _stack(tensors: Sequence[T], dim: int = 0) -> T:
    return joining.stack(tensors, dim)


def _cat(tensors: Sequence[T], dim: int = 0) -> T:
    return joining.cat(tensors, dim)


def _split(tensor: T, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[T, ...]:
    return joining.split(tensor, split_size_or_sections, dim)


def _chunk(input: T, chunks: int, dim: int = 0) -> tuple[T, ...]:
    return joining.chunk(input, chunks, dim)


def _unbind(input: T, dim: int = 0) -> tuple[T, ...]:
    return joining.unbind(input, dim)


def _reshape(input: T, shape: Sequence[int]) -> T:
    return shapes.reshape(input, shape)


def _flatten(input: T, start_dim: int = 0, end_dim: int = -1) -> T:
    return shapes.flatten(input, start_dim, end_dim)


def _unflatten(input: T, dim: int, sizes: Sequence[int]) -> T:
    return shapes.unflatten(input, dim, sizes)


def _permute(input: T, dims: Sequence[int]) -> T:
    return shapes.permute(input, dims)


def _transpose(input: T, dim0: int, dim1: int) -> T:
    return shapes.transpose(input, dim0, dim1)


def _squeeze(input: T, dim: int | None = None) -> T:
    return shapes.squeeze(input, dim)


def _unsqueeze(input: T, dim: int) -> T:
    return shapes.unsqueeze(input, dim)


def _broadcast_to(input: T, size: Sequence[int]) -> T:
    return shapes.expand(input, size)


def _clone(input: T, *, memory_format: torch.memory_format = torch.preserve_format) -> T:
    if memory_format is torch.preserve_format:
        return movement.clone(input)
    return input._map_with(_clone_as, memory_format, input._device)


def _clone_as(tensor: Tensor, memory_format: torch.memory_format) -> Tensor:
    return torch.clone(tensor, memory_format=memory_format)


def _detach(input: T) -> T:
    return movement.detach(input)


def _like(function: Callable[..., Tensor]) -> Callable[..., TensorClass]:
    """`torch.zeros_like` and its kin: every tensor anew, static values kept. `dtype` and `device` hold for all of them."""

    def apply(tensor: Tensor, arguments: tuple[tuple[object, ...], dict[str, object]]) -> Tensor:
        args, options = arguments
        return function(tensor, *args, **options)

    def handler(input: T, *args: object, device: torch.device | str | int | None = None, **options: object) -> T:
        if not args and not options and device is None:
            return input._map(function)
        found = input._device if device is None else as_device(device)
        if device is not None:
            options["device"] = found
        return input._map_with(apply, (args, options), found)

    return handler


_HANDLERS: dict[Callable[..., object], Callable[..., object]] = operators.torch_functions() | {
    torch.stack: _stack,
    torch.cat: _cat,
    torch.concat: _cat,
    torch.concatenate: _cat,
    torch.split: _split,
    torch.chunk: _chunk,
    torch.unbind: _unbind,
    torch.reshape: _reshape,
    torch.flatten: _flatten,
    torch.unflatten: _unflatten,
    torch.permute: _permute,
    torch.transpose: _transpose,
    torch.squeeze: _squeeze,
    torch.unsqueeze: _unsqueeze,
    torch.broadcast_to: _broadcast_to,
    torch.clone: _clone,
    torch.detach: _detach,
    torch.zeros_like: _like(torch.zeros_like),
    torch.ones_like: _like(torch.ones_like),
    torch.empty_like: _like(torch.empty_like),
    torch.full_like: _like(torch.full_like),
    torch.rand_like: _like(torch.rand_like),
    torch.randn_like: _like(torch.randn_like),
}
