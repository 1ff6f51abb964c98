"""Putting values in the place of tensors on meta.

A tensor stays the object that it is, and gets the content of the new one. So every reference to it holds: ties, optimizers that
were made before, lists of parameters. Where torch cannot exchange the content, because something refers to the tensor weakly or a
graph holds it, the new tensor takes its place under all its names, as after `to_empty`.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from ..deferred.tape import Tape
from ..sharding.placements import is_distributed, shares_of, slices
from .evaluation import evaluate
from .keyed_draws import Key
from .survey import HeldTensor, Registry


def allocated(tensor: Tensor, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """A tensor without values, of the shape, strides and placements of one on meta; it requires no gradient.

    The local tensor of a DTensor is on `device`, whatever the devices of its mesh.
    """
    with torch.no_grad():
        if is_distributed(tensor):
            return torch.empty_like(tensor, device=device, dtype=dtype or tensor.dtype, requires_grad=False)
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype or tensor.dtype, device=device)


def local_part(tensor: Tensor) -> Tensor:
    """The part of a DTensor that this process holds, sharing its memory; a plain tensor itself."""
    with torch.no_grad():
        return tensor.to_local() if is_distributed(tensor) else tensor


def fill(tape: Tape, slot: int, keys: Mapping[int, Key], tensor: Tensor) -> None:
    """Write what the operations of a record make of a slot into a tensor, or into the part of a DTensor that this process holds.

    The arguments are those of `evaluate`.
    """
    with torch.no_grad():
        if not is_distributed(tensor):
            evaluate(tape, slot, keys, tensor)
            return
        local = tensor.to_local()
        for share in shares_of(tensor):
            evaluate(tape, slot, keys, local[slices(share.local)], share.part)


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
