"""Gradients of the tensors of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import torch
from torch import Tensor
from torch.compiler import is_compiling

from ..core.stored import Stored


class Gradients(Stored):
    """The members of TensorClass that read, make and remove gradients."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """True if any tensor requires a gradient."""
        for tensor in self._leaves():  # noqa: SIM110 # `any` of a generator takes twice as long
            if tensor.requires_grad:
                return True
        return False

    if TYPE_CHECKING:
        # A field may be called so, which checkers accept in place of a name without a declared type.
        data = cast(Any, None)
    else:

        @property
        def data(self) -> Self:
            """The same tensors without their history: `Tensor.data` of each, which autograd does not see being written to."""
            return self._map(_data)

    @property
    def grad(self) -> Self | None:
        """The gradients of the tensors, each of its tensor's shape and dtype; None where no tensor has one.

        A tensor without a gradient has zeros in its place.

        Raises:
            RuntimeError: the tensors are parts of tensors with gradients, as those of `batch[0]` are. Parts have none of
                their own.
        """
        if all(leaf.grad is None for leaf in self._leaves()):
            if not is_compiling() and any(_has_gradient(leaf._base) for leaf in self._leaves()):
                kind = type(self).__name__
                raise RuntimeError(
                    f"{kind}.grad: the tensors are parts of tensors with gradients, and have none of their own; index the "
                    "gradient instead: batch.grad[0]; what optimizes or clips takes [x for _, x in batch.items(True, True)]"
                )
            return None
        return self._map(_grad)

    def zero_grad(self, set_to_none: bool = True) -> Self:
        """Remove the gradients of all tensors, or write zeros into them.

        >>> batch = Batch(torch.ones(2), batch_size=2).requires_grad_()
        >>> batch.tokens.sum().backward()
        >>> batch.zero_grad(set_to_none=False).tokens.grad
        tensor([0., 0.])
        """
        for leaf in self._leaves():
            if set_to_none:
                leaf.grad = None
            elif leaf.grad is not None:
                leaf.grad.detach_().zero_()
        return self


def _has_gradient(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.is_leaf and tensor.grad is not None


def _data(tensor: Tensor) -> Tensor:
    return tensor.data


def _grad(tensor: Tensor) -> Tensor:
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
