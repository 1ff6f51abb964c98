"""Copies of the tensors, where these lie in memory, and whether they record gradients."""

from __future__ import annotations
from .moving import T

from typing import TypeVar

import torch
from torch import Tensor

from ..core.contents import shallow_copy
from ..core.locks import refuse_if_frozen
from ..core.stored import FROZEN, Stored



def clone(self: T, recurse: bool = True) -> T:
    """A copy of every tensor. Static values are shared, and with `recurse=False` the tensors too, as by `copy`.

    The copies have the shapes, dtypes and devices of the tensors, and gradients flow through them, as with `Tensor.clone`.
    The result is not locked.

    >>> batch = Batch(torch.arange(2), batch_size=2, lock=True)
    >>> copy = batch.clone()
    >>> copy.tokens[0] = 5
    >>> batch.tokens, copy.is_locked
    (tensor([0, 1]), False)
    """
    return self._map(Tensor.clone) if recurse else shallow_copy(self)


def detach(self: T) -> T:
    """The object with each tensor as `Tensor.detach` gives it: the same memory, without gradient history.

    >>> batch = Batch(torch.zeros(2, requires_grad=True), batch_size=2)
    >>> batch.detach().tokens.requires_grad
    False
    """
    return self._map(Tensor.detach)


def contiguous(self: T) -> T:
    """The object with every tensor contiguous in memory; one that is contiguous already is shared, not copied.

    >>> batch = Batch(torch.zeros(2, 3), batch_size=[2, 3]).transpose(0, 1)
    >>> batch.is_contiguous(), batch.contiguous().is_contiguous()
    (False, True)
    """
    return self._map(Tensor.contiguous)


def pin_memory(self: T) -> T:
    """Every tensor in page-locked memory, from which copies to a GPU can be asynchronous. A DataLoader calls it.

    Raises:
        RuntimeError: there is no accelerator.
    """
    return self._map(Tensor.pin_memory)


def record_stream(self: T, stream: torch.cuda.Stream) -> T:
    """Tell the allocator that a stream of a GPU uses the tensors, so that their memory is not used again before it is done."""
    for leaf in self._leaves():
        leaf.record_stream(stream)
    return self


def requires_grad_(self: T, requires_grad: bool = True) -> T:
    """Record gradients for the floating point tensors, in place, or stop it.

    >>> Batch(torch.zeros(2), torch.ones(2).bool(), batch_size=2).requires_grad_().tokens.requires_grad
    True

    Raises:
        FrozenInstanceError: the class is frozen.
    """
    if self._lock is FROZEN or self._nested:
        refuse_if_frozen(self, "change the tensors of")
    leaves = self._leaves()
    try:
        if requires_grad:
            for leaf in leaves:
                leaf.requires_grad_()  # an argument to read takes torch a quarter of the time more
        else:
            for leaf in leaves:
                leaf.requires_grad_(False)
    except RuntimeError:  # one of them holds integers, or something is really wrong, which the same call says again
        for leaf in leaves:
            if leaf.is_floating_point() or leaf.is_complex():
                leaf.requires_grad_(requires_grad)
    return self
