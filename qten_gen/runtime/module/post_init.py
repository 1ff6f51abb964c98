"""Puts what a `__post_init__` registers where its constructor was asked to put the module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import torch
from torch import Tensor, nn

from .module_base import ModuleBase

_Place = tuple[nn.Module, str]
"""The module that holds a parameter, and its name there."""


@contextmanager
def placed(module: ModuleBase, device: torch.device | str | int | None, dtype: torch.dtype | None) -> Iterator[None]:
    """Move and cast the tensors that a block registers, as `module.to(device, dtype)` would; earlier ones stay as they are.

    Earlier tensors were made in their place, and may have a dtype of their own: `param(..., dtype=torch.float32)`.
    """
    if device is None and dtype is None:
        yield
        return
    # The tensors themselves, and not their ids alone: the memory of one that the block lets go may be that of a new one.
    earlier = {id(tensor): tensor for tensor in chain(module.parameters(), module.buffers())}
    yield

    def place(tensor: Tensor) -> Tensor:
        if id(tensor) in earlier:
            return tensor
        casts = dtype is not None and (tensor.is_floating_point() or tensor.is_complex())
        return tensor.to(device=device, dtype=dtype if casts else None)

    shared = _shared(module)
    module._apply(place)  # type: ignore[no-untyped-call] # torch gives none
    # `_apply` sees a shared parameter once for each of its places.
    for (holder, name), *others in shared:
        for other, alias in others:
            other._parameters[alias] = holder._parameters[name]


def _shared(module: nn.Module) -> list[list[_Place]]:
    """The places of each parameter that has several: a move to meta would make another parameter for each."""
    places: dict[int, list[_Place]] = {}
    for holder in module.modules():
        for name, parameter in holder._parameters.items():
            if parameter is not None:
                places.setdefault(id(parameter), []).append((holder, name))
    return [found for found in places.values() if len(found) > 1]
