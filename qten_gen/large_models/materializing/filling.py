"""Real tensors in place of those on meta, and their values: all of them, or the part that this process holds."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ..deferred.tape import Tape
from ..sharding.placements import is_distributed, shares_of
from ..sharding.regions import slices
from .evaluation import evaluate
from .keyed_draws import Key


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


def fill(
    tape: Tape, slot: int, keys: Mapping[int, Key], tensor: Tensor, given: Mapping[int, Tensor] | None = None
) -> None:
    """Write what the operations of a record make of a slot into a tensor, or into the part of a DTensor that this process holds.

    The arguments are those of `evaluate`.
    """
    with torch.no_grad():
        if not is_distributed(tensor):
            evaluate(tape, slot, keys, tensor, given=given)
            return
        local = tensor.to_local()
        for share in shares_of(tensor):
            evaluate(tape, slot, keys, local[slices(share.local)], share.part, given)
