"""The oracle: an object as a dict of plain tensors, and operations on it written without a TensorClass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import torch
from torch import Tensor


@dataclass
class Plain:
    """What an object holds: tensors by path, the further batch dimensions of nested objects, static values."""

    batch_size: tuple[int, ...]
    tensors: dict[str, Tensor]
    tails: dict[str, tuple[int, ...]]
    static: dict[str, object]

    @property
    def n(self) -> int:
        """How many batch dimensions there are."""
        return len(self.batch_size)

    def tail(self, path: str) -> tuple[int, ...]:
        """The further batch dimensions of the object that holds a tensor."""
        return self.tails.get(path.partition(".")[0], ()) if "." in path else ()


def valued(plain: Plain, function: Callable[..., Tensor], *others: Any) -> Plain:
    """`function` of every tensor and the operands: objects, tensors over the batch, numbers."""
    return replace(
        plain,
        tensors={
            path: function(tensor, *(_operand(other, path, tensor, plain.n) for other in others))
            for path, tensor in plain.tensors.items()
        },
    )


def _operand(other: Any, path: str, tensor: Tensor, n: int) -> Any:
    if isinstance(other, Plain):
        return other.tensors[path]
    if isinstance(other, Tensor) and other.dim():
        return other.reshape(*other.shape, *(1,) * (tensor.dim() - n))
    return other


def arranged(plain: Plain, function: Callable[[Tensor], Any]) -> Plain:
    """The items where `function` puts them, which is asked once: what it does with a tensor of the positions of items."""
    index: Tensor = function(torch.arange(prod(plain.batch_size)).reshape(plain.batch_size))
    return replace(
        plain,
        batch_size=tuple(index.shape),
        tensors={path: rows(tensor, plain.n)[index] for path, tensor in plain.tensors.items()},
    )


def written(plain: Plain, function: Callable[[Tensor], Tensor], value: Plain | float) -> Plain:
    """Other values in the items that `function` selects."""
    index = function(torch.arange(prod(plain.batch_size)).reshape(plain.batch_size))
    tensors: dict[str, Tensor] = {}
    for path, tensor in plain.tensors.items():
        flat = rows(tensor, plain.n).clone()
        flat[index] = value.tensors[path] if isinstance(value, Plain) else value
        tensors[path] = flat.reshape(tensor.shape)
    return replace(plain, tensors=tensors)


def rows(tensor: Tensor, n: int) -> Tensor:
    """A tensor with one dimension in place of the batch dimensions."""
    return tensor.reshape(prod(tensor.shape[:n]), *tensor.shape[n:])


Dims = int | tuple[int, ...] | str | None


def reduced(plain: Plain, function: Callable[..., Tensor], dim: Dims, keepdim: bool) -> Plain:
    """Every tensor reduced by `function(tensor, dims, keepdim)`."""
    if dim is None or dim == "feature":
        size = plain.batch_size if dim else (1,) * plain.n if keepdim else ()
        tensors = {}
        for path, tensor in plain.tensors.items():
            first = plain.n if dim else 0
            open_ = tensor.unsqueeze(-1) if tensor.dim() == first else tensor
            found = function(open_, tuple(range(first, open_.dim())), keepdim)
            tensors[path] = found
        return Plain(size, tensors, dict.fromkeys(plain.tails, ()), plain.static)
    dims = positive((dim,) if isinstance(dim, int) else tuple(int(one) for one in dim), plain.n)
    kept = [1 if at in dims else length for at, length in enumerate(plain.batch_size) if keepdim or at not in dims]
    tensors = {path: function(tensor, dims, keepdim) for path, tensor in plain.tensors.items()}
    return replace(plain, batch_size=tuple(kept), tensors=tensors)


def together(plain: Plain, function: Callable[..., Tensor], dim: Dims) -> Tensor:
    """One tensor for all: the numbers of every item that is left side by side, reduced."""
    if dim is None:
        dims: Sequence[int] = range(plain.n)
    else:
        dims = positive((dim,) if isinstance(dim, int) else tuple(int(one) for one in dim), plain.n)
    left = [at for at in range(plain.n) if at not in dims]
    size = [plain.batch_size[at] for at in left]
    lines = []
    for tensor in plain.tensors.values():
        order = left + [at for at in range(tensor.dim()) if at not in left]
        lines.append(tensor.permute(order).reshape(*size, prod(tensor.shape) // prod(size) if prod(size) else 1))
    return function(torch.cat(lines, -1), (len(left),), False)


def positive(dims: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Batch dimensions counted from the front."""
    if any(not -n <= dim < n for dim in dims):
        raise IndexError
    return tuple(dim % n for dim in dims)
