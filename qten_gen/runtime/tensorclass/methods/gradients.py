"""Gradients of the tensors of an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import torch
from torch import Tensor
from torch.compiler import is_compiling

from ..core.contents import leaf_pairs
from ..core.stored import Stored


class Gradients(Stored):
    """The members of TensorClass that read, make and remove gradients."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """True if any tensor requires a gradient."""
        return any(tensor.requires_grad for tensor in self._leaves())

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
                    "gradient instead: batch.grad[0]"
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

    def backward(
        self,
        gradient: Self | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Stored | Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add up the gradients of all tensors that require one in the leaves of their graphs.

        >>> batch = Batch(torch.ones(2), batch_size=2).requires_grad_()
        >>> (batch * 3).apply(torch.sum, batch_size=()).backward()
        >>> batch.grad.tokens
        tensor([3., 3.])

        Args:
            gradient: Where tensors hold more than one element, the gradients with respect to them: an object of this class whose
                tensors have the same shapes.
            retain_graph: Keep the graph for another call.
            create_graph: Record the computation of the gradients, for higher derivatives.
            inputs: Only these get gradients: an object, whose tensors are meant that require one, or tensors.

        Raises:
            RuntimeError: no tensor requires a gradient, or one has several elements and `gradient` is not given.
            TypeError: a field is None in `gradient` only, or in this object only.
        """
        pairs = [(leaf, None) for leaf in self._leaves()] if gradient is None else leaf_pairs(self, gradient)
        wanted = [(leaf, grad) for leaf, grad in pairs if leaf.requires_grad]
        if not wanted:
            raise RuntimeError(f"backward: no tensor of the {type(self).__name__} requires a gradient")
        torch.autograd.backward(
            [leaf for leaf, _ in wanted],
            None if gradient is None else [cast(Tensor, grad) for _, grad in wanted],
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=[leaf for leaf in inputs._leaves() if leaf.requires_grad] if isinstance(inputs, Stored) else inputs,
        )


def _has_gradient(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.is_leaf and tensor.grad is not None


def _data(tensor: Tensor) -> Tensor:
    return tensor.data


def _grad(tensor: Tensor) -> Tensor:
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
