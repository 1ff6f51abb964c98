"""Putting values in the place of tensors on meta.

A tensor stays the object that it is, and gets the content of the new one. So every reference to it holds: ties, optimizers that
were made before, lists of parameters. Where torch cannot exchange the content, because something refers to the tensor weakly or a
graph holds it, the new tensor takes its place under all its names, as after `to_empty`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .survey import HeldTensor, Registry


def place(held: HeldTensor, value: Tensor, requires_grad: bool) -> Tensor:
    """Give a tensor a value, of any shape, dtype, device and layout.

    Returns:
        What the module holds now: a parameter where it held one.
    """
    new = _like(held.tensor, value, requires_grad)
    try:
        torch.utils.swap_tensors(held.tensor, new)  # type: ignore[no-untyped-call] # torch gives it no types
        return held.tensor
    except RuntimeError:
        for home in held.homes:
            if home.registry is not Registry.ATTRIBUTE:
                vars(home.module)[home.registry.value][home.name] = new
            elif vars(home.module).get(home.name) is held.tensor:
                vars(home.module)[home.name] = new
        return new


def settle(root: nn.Module) -> None:
    """Let the modules notice that their tensors have changed: cached virtual tensors, the lists of an LSTM, FSDP."""
    for module in root.modules():
        if type(module)._apply is not nn.Module._apply:
            module._apply(lambda tensor: tensor, recurse=False)  # type: ignore[no-untyped-call] # torch gives it no types


def _like(old: Tensor, value: Tensor, requires_grad: bool) -> Tensor:
    """The value as the kind of tensor that the old one is, with its Python attributes."""
    cls = type(old)
    if not isinstance(old, nn.Parameter):
        new = value.requires_grad_(requires_grad) if requires_grad else value
    elif cls is nn.Parameter or type(value) is not Tensor:
        new = nn.Parameter(value, requires_grad)
    else:
        new = torch.Tensor._make_subclass(cls, value, requires_grad)
    vars(new).update(vars(old))
    return new
